// The simulated visitors: how far the learner is between lists at random and the best possible ones.

import { ask } from "../api.js";
import { $, count, make, percent, write } from "../dom.js";

const EVERY = 1000, RIGHT = 8, TOP = 8, BOTTOM = 20; // milliseconds, and pixels around the curve
let crowd = null;

export function watchCrowd(shop) {
  new ResizeObserver(() => draw(shop)).observe($("curve"));
  look(shop);
  setInterval(() => { if (!document.hidden) look(shop); }, EVERY);
}

async function look(shop) {
  try {
    crowd = await ask("demo/crowd");
  } catch (why) {
    if (why.status === undefined) throw why; // a bug of this page
    return; // the next one may be answered
  }
  $("crowd").hidden = crowd === null;
  draw(shop);
}

function draw(shop) {
  if (!crowd || crowd.rate === null) return;
  const way = (crowd.rate - shop.random) / (shop.best - shop.random);
  write("way", percent(Math.max(0, way)));
  write("way-note", "of the way from random to perfect");
  write("crowd-note", `${shop.regulars} regulars, each with tastes of their own, come through the same API as you. They are simulated, so the truth is known: of what they are shown, ${percent(crowd.rate)} is clicked now. Items at random would get ${percent(shop.random)}, the best possible lists ${percent(shop.best)}.`);
  $("curve").setAttribute("aria-label", `Click rate after ${crowd.visits} visits: ${percent(crowd.rate)}`);
  const box = $("curve"), width = box.clientWidth, height = box.clientHeight;
  const points = [...crowd.points, [crowd.visits, crowd.rate]];
  const x = (visits) => (visits / Math.max(1, crowd.visits)) * (width - RIGHT);
  const y = (rate) => height - BOTTOM - (rate / (shop.best * 1.12)) * (height - TOP - BOTTOM);
  const path = points.map(([visits, rate], i) => `${i ? "L" : "M"}${x(visits).toFixed(1)} ${y(rate).toFixed(1)}`).join("");
  const limit = (rate, name, up) => [make("line", { class: "limit", x1: 0, x2: width - RIGHT, y1: y(rate), y2: y(rate) }), make("text", { x: width - RIGHT, y: y(rate) + (up ? -5 : 15), "text-anchor": "end" }, `${name} ${percent(rate)}`)];
  box.replaceChildren(make("svg", { width, height, "aria-hidden": "true", focusable: "false" },
    make("line", { class: "grid", x1: 0, x2: width - RIGHT, y1: y(0), y2: y(0) }), ...limit(shop.random, "at random", false), ...limit(shop.best, "best possible", true),
    make("path", { class: "curve", d: path }), make("circle", { class: "spot", cx: x(crowd.visits), cy: y(crowd.rate), r: 3.5 }),
    make("text", { x: 0, y: height - 5 }, "0"), make("text", { x: width - RIGHT, y: height - 5, "text-anchor": "end" }, `${count(crowd.visits)} visits`)));
}
