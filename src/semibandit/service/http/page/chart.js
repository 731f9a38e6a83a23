// Charts in SVG, drawn in the pixels that there are, so that text keeps its size on a phone.

import { clock, count, day, make, percent, sinceToday, sum } from "./dom.js";

const LEFT = 44, RIGHT = 10, TOP = 10, BOTTOM = 26, STRIP = 34; // the strip holds the visits

const text = (x, y, content, anchor = "start") => make("text", { x, y, "text-anchor": anchor }, content);
const line = (x1, y1, x2, y2, kind = "grid") => make("line", { class: kind, x1, y1, x2, y2 });

function nice(most) { // a round number that is no smaller, and of which half is round, too
  const power = 10 ** Math.floor(Math.log10(most || 0.01));
  return [1, 2, 4, 6, 8, 10].find((step) => step * power >= most * 0.999) * power;
}

function picture(box, ...children) {
  const size = { width: box.clientWidth, height: box.clientHeight, "aria-hidden": "true", focusable: "false" };
  box.replaceChildren(make("svg", size, ...children));
}

export function moment(point, step) {
  if (step >= 86400) return day(point.start);
  return sinceToday(point.start) || step < 3600 ? clock(point.start) : `${day(point.start)}, ${clock(point.start)}`;
}

const NAMES = ["decisions", "empty", "feedback", "waited", "shown", "clicks"];
const ENOUGH = 30; // items shown in an interval, so that its rate is more than chance

function grouped(points, by) { // the last group is whole
  const groups = [];
  for (let end = points.length; end > 0; end -= by) groups.unshift(points.slice(Math.max(0, end - by), end));
  return groups.map((some) => ({ start: some[0].start, ...Object.fromEntries(NAMES.map((name) => [name, sum(some, name)])) }));
}

function merged({ points, step }) { // neighbours together, if most of them alone say little
  for (const by of [1, 2, 3, 5, 6]) {
    const found = grouped(points, by), some = found.map((one) => one.shown).filter(Boolean).sort((a, b) => a - b);
    const enough = some.length === 0 || some[Math.floor(some.length / 2)] >= ENOUGH;
    if (enough || by === 6 || found.length < 20) return { points: found, step: step * by };
  }
}

export class RateChart {
  constructor(box, onLook) {
    this.box = box;
    this.onLook = onLook; // called with a point and its step, or null
    this.series = { points: [], step: 60 };
    this.at = null; // the point that is looked at
    box.addEventListener("pointermove", (event) => this.look(this.nearest(event.offsetX)));
    box.addEventListener("pointerleave", () => this.look(null));
    box.addEventListener("blur", () => this.look(null));
    box.addEventListener("focus", () => this.look(this.at ?? this.series.points.length - 1));
    box.addEventListener("keydown", (event) => this.press(event));
    new ResizeObserver(() => this.draw()).observe(box);
  }

  show(series) {
    this.series = merged(series);
    if (this.at === null) this.draw();
    else this.look(Math.min(this.at, this.series.points.length - 1)); // what is read changes, too
  }

  nearest(x) {
    const n = this.series.points.length, share = (x - LEFT) / Math.max(1, this.box.clientWidth - LEFT - RIGHT);
    return Math.min(n - 1, Math.max(0, Math.floor(share * n)));
  }

  press(event) {
    const last = this.series.points.length - 1, now = this.at ?? last;
    const to = { ArrowLeft: now - 1, ArrowRight: now + 1, Home: 0, End: last, Escape: null }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.look(to === null ? null : Math.min(last, Math.max(0, to)));
  }

  look(at) {
    this.at = at;
    this.draw();
    this.onLook(at === null ? null : this.series.points[at], this.series.step);
  }

  draw() {
    const { points, step } = this.series, n = points.length;
    const width = this.box.clientWidth, height = this.box.clientHeight;
    if (!width || !n) return;
    const floor = height - BOTTOM - STRIP, wide = (width - LEFT - RIGHT) / n;
    const rates = points.map((one) => (one.shown ? one.clicks / one.shown : null));
    const most = nice(Math.max(...rates.map((rate) => rate ?? 0)));
    const x = (i) => LEFT + wide * (i + 0.5), y = (rate) => floor - (floor - TOP) * (rate / most);
    const busiest = Math.max(1, ...points.map((one) => one.decisions));
    const bars = points.map((one, i) => {
      const high = (STRIP - 8) * (one.decisions / busiest);
      const broad = Math.min(28, wide * 0.8);
      return make("rect", { class: i === this.at ? "bar on" : "bar", x: x(i) - broad / 2, y: height - BOTTOM - high, width: broad, height: high });
    });
    const levels = [0, most / 2, most].flatMap((rate) => [line(LEFT, y(rate), width - RIGHT, y(rate)), text(LEFT - 6, y(rate) + 4, percent(rate), "end")]);
    picture(this.box, ...levels, ...bars, ...this.times(points, step, x, height), ...curve(rates, x, y, floor),
      ...this.cursor(rates, x, y, height), text(LEFT - 6, height - BOTTOM, "visits", "end"));
    this.describe(points, step);
  }

  times(points, step, x, height) {
    const n = points.length, parts = Math.max(1, Math.min(n - 1, Math.floor(this.box.clientWidth / 130)));
    return Array.from({ length: parts + 1 }, (_, k) => {
      const i = Math.round((k * (n - 1)) / parts);
      const name = step >= 86400 || (step >= 3600 && n > 30) ? day(points[i].start) : clock(points[i].start);
      return text(x(i), height - 8, name, k === 0 ? "start" : k === parts ? "end" : "middle");
    });
  }

  cursor(rates, x, y, height) {
    if (this.at === null || this.at >= rates.length) return [];
    const rate = rates[this.at], spot = rate === null ? [] : [make("circle", { class: "spot", cx: x(this.at), cy: y(rate), r: 4.5 })];
    return [line(x(this.at), TOP, x(this.at), height - BOTTOM, "cursor"), ...spot];
  }

  describe(points, step) {
    const at = Math.min(this.at ?? points.length - 1, points.length - 1), one = points[at];
    this.box.setAttribute("aria-valuemax", points.length - 1);
    this.box.setAttribute("aria-valuenow", at);
    this.box.setAttribute("aria-valuetext", reading(one, step));
  }
}

function curve(rates, x, y, floor) { // from one known rate to the next, also over a quiet time
  const known = rates.flatMap((rate, i) => (rate === null ? [] : [[x(i).toFixed(1), y(rate).toFixed(1)]]));
  if (known.length < 2) return known.map(([cx, cy]) => make("circle", { class: "spot", cx, cy, r: 3 }));
  const path = "M" + known.map((at) => at.join(",")).join("L");
  const under = `${path}L${known[known.length - 1][0]},${floor}L${known[0][0]},${floor}Z`;
  return [make("path", { class: "area", d: under }), make("path", { class: "curve", d: path })];
}

export function reading(one, step) {
  const rate = one.shown ? `${percent(one.clicks, one.shown)} clicked (${count(one.clicks)} of ${count(one.shown)} items)` : "no answers";
  return `${moment(one, step)}: ${rate}, ${count(one.decisions)} ${one.decisions === 1 ? "visit" : "visits"}`;
}

export function drawCalibration(box, bins) {
  const known = bins.filter((one) => one.labels), all = Math.max(1, ...known.map((one) => one.labels));
  const width = box.clientWidth, floor = box.clientHeight - 34, right = width - 14;
  const most = nice(Math.max(0.05, ...known.map((one) => Math.max(one.estimate, one.clicks / one.labels))));
  const x = (p) => LEFT + (right - LEFT) * Math.max(0, p / most), y = (p) => floor - (floor - TOP) * (p / most);
  const spots = known.map((one) => {
    const rate = one.clicks / one.labels;
    const title = `expected ${percent(one.estimate)}, clicked ${percent(rate)}, ${count(one.labels)} times`;
    return make("circle", { class: "spot see", cx: x(one.estimate), cy: y(rate), r: 3 + 7 * Math.sqrt(one.labels / all) }, make("title", {}, title));
  });
  const ticks = [0, most / 2, most].flatMap((p) => [line(LEFT, y(p), right, y(p)), text(LEFT - 6, y(p) + 4, percent(p), "end"), text(x(p), floor + 15, percent(p), "middle")]);
  picture(box, ...ticks, line(x(0), y(0), x(most), y(most), "ideal"), ...spots,
    text((LEFT + right) / 2, floor + 30, "expected", "middle"), text(LEFT + 6, TOP + 15, "clicked"));
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", known.map((one) => `expected ${percent(one.estimate)}: clicked ${percent(one.clicks / one.labels)}`).join("; ") || "no answers yet");
}

export function drawPositions(box, positions) {
  const some = positions.slice(0, 12), width = box.clientWidth, floor = box.clientHeight - 34;
  const rates = some.map(([shown, clicked]) => (shown ? clicked / shown : 0)), most = nice(Math.max(0.01, ...rates));
  const wide = (width - LEFT - RIGHT) / Math.max(5, some.length), y = (p) => floor - (floor - TOP) * (p / most);
  const bars = rates.flatMap((rate, i) => {
    const title = `place ${i + 1}: ${percent(rate)} clicked (${count(some[i][1])} of ${count(some[i][0])})`, at = LEFT + wide * i;
    return [make("rect", { class: "bar strong", x: at + wide * 0.2, y: y(rate), width: wide * 0.6, height: floor - y(rate), rx: 2 }, make("title", {}, title)),
      text(at + wide / 2, floor + 15, String(i + 1), "middle")];
  });
  const levels = [0, most / 2, most].flatMap((p) => [line(LEFT, y(p), width - RIGHT, y(p)), text(LEFT - 6, y(p) + 4, percent(p), "end")]);
  picture(box, ...levels, ...bars, text(LEFT + (width - LEFT - RIGHT) / 2, floor + 30, "place in the list", "middle"));
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", rates.map((rate, i) => `place ${i + 1}: ${percent(rate)}`).join("; ") || "no answers yet");
}
