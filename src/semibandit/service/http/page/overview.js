// The first screen: is it worth it, and is it well?

import { ask } from "./api.js";
import { drawCalibration, drawPositions, RateChart, reading } from "./chart.js";
import { $, ago, count, day, duration, make, percent, sum, write } from "./dom.js";
import { drawUplift } from "./uplift.js";

const IN = { hour: "in the last hour", day: "in the last 24 hours", all: "so far" };
const EVERY = { hour: 1, day: 5, all: 15 }; // turns between two looks at the series
const PLENTY = 1000; // items shown in an hour, from which its minutes say something

let state = null, series = null, turn = 0;
const chart = new RateChart($("chart"), (point, step) => {
  $("readout").textContent = point ? reading(point, step) : usual();
});

export const range = () => document.querySelector("#range input:checked").value;

export async function drawOverview(now, again = false) {
  if (state === null && sum(now.minutes, "shown") >= PLENTY) document.querySelector("#range [value=hour]").checked = true;
  state = now;
  drawStatus(now);
  $("overview").hidden = now.totals.decisions === 0;
  if ($("overview").hidden) return;
  drawUplift(now.uplift, now.wait, now.policy);
  if (again || series === null || series.range !== range() || ++turn % EVERY[series.range] === 0) {
    const asked = range(), found = await ask(`v1/series?range=${asked}`);
    if (asked === range()) series = found; // unless another was chosen meanwhile
  }
  drawNumbers();
}

function drawNumbers() {
  const seen = series.range === "all" ? state.totals : totalsOf(series.points), all = state.totals;
  const when = IN[series.range];
  write("rate", percent(seen.clicks, seen.shown));
  const compared = series.range === "all" ? "" : ` (${percent(all.clicks, all.shown)} so far)`;
  write("rate-note", seen.shown ? `of the items shown were clicked ${when}${compared}` : `no answers ${when === IN.all ? "yet" : when}`);
  write("visits-count", count(seen.decisions));
  write("visits-note", series.range === "all" ? `since ${day(all.since)}` : when);
  write("empty", percent(seen.empty, seen.decisions));
  write("empty-note", `${count(seen.empty)} visits saw an empty list`);
  const answered = Math.min(seen.decisions, seen.feedback - seen.waited);
  write("silent", percent(seen.decisions - answered, seen.decisions));
  write("silent-note", `of ${count(seen.decisions - answered)} visits we know no clicks`);
  const asked = state.requests;
  write("p99", duration(asked.p99_ms));
  write("p99-note", asked.count ? `99 of 100 are faster, half within ${duration(asked.p50_ms)}` : "no requests in 5 minutes");
  write("errors", percent(asked.errors, asked.count));
  write("errors-note", asked.count ? `${count(asked.errors)} of ${count(asked.count)} requests in 5 minutes` : "no requests in 5 minutes");
  chart.show(series);
  if (chart.at === null) $("readout").textContent = usual();
  drawSmall();
}

function drawSmall() {
  if (state === null) return;
  drawCalibration($("calibration"), state.calibration);
  drawPositions($("positions"), state.positions);
}

new ResizeObserver(drawSmall).observe($("calibration"));

function totalsOf(points) {
  const names = ["decisions", "empty", "feedback", "waited", "shown", "clicks"];
  return Object.fromEntries(names.map((name) => [name, sum(points, name)]));
}

const usual = () => "Point at the chart, or use the arrow keys, to read a value.";

// -- what is wrong, or one calm line --------------------------------------------------------------

let said = null; // what is on the page: it is left alone while it is the same

function say(...children) {
  const text = children.map((one) => one.outerHTML).join("");
  if (said !== text) $("status").replaceChildren(...children);
  said = text;
}

function drawStatus(now) {
  const latest = now.latest[0]; // beside what is read aloud when it changes
  write("last-visit", latest ? `The last visit was ${ago(latest.at)}.` : "It waits for its first visit.");
  if (now.problems.length) say(...now.problems.map((one) => alarm(one.what, one.do)));
  else drawCalm("All is well.", "good");
}

export function drawCalm(text, kind = "") {
  say(make("p", { class: "calm" }, make("span", { class: `dot ${kind}`, "aria-hidden": "true" }), text));
}

const alarm = (what, todo) => make("div", { class: "alarm" }, make("p", { class: "what" }, what), make("p", {}, todo));

export function drawTrouble(what, todo) {
  write("last-visit", "");
  say(alarm(what, todo));
}

export function onRange(use) { $("range").addEventListener("change", use); }
