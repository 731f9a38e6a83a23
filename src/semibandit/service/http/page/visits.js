// The latest visits, one line each; a line opens to say why. While one is open, the list stands still.

import { $, clock, day, make, sinceToday } from "./dom.js";
import { ending, row } from "./bars.js";

const drawn = new Map(); // id → [element, what it was drawn from]
const FEW = 24; // features shown at once
const SHOWN = { uniform: "items drawn at random", "most-clicked": "the items with the most clicks" };

export function drawVisits(state) {
  const list = $("visit-list"), latest = state.latest;
  const open = list.querySelector("details[open]") !== null, known = latest.filter((one) => drawn.has(one.id));
  $("held").hidden = !open || known.length === latest.length;
  for (const one of known) update(one, state);
  if (open) return;
  const now = new Set(latest.map((one) => one.id));
  for (const [id, [element]] of drawn) {
    if (!now.has(id)) { element.remove(); drawn.delete(id); }
  }
  for (const one of latest.slice().reverse()) {
    if (!drawn.has(one.id)) list.prepend(add(one, state));
  }
  $("no-visits").hidden = latest.length > 0;
}

function add(one, state) {
  const element = make("details", { "data-id": one.id });
  drawn.set(one.id, [element, null]);
  update(one, state);
  return element;
}

function update(one, state) {
  const [element, before] = drawn.get(one.id), now = JSON.stringify(one);
  if (before === now) return;
  drawn.set(one.id, [element, now]);
  const focused = element.contains(document.activeElement);
  element.replaceChildren(line(one), inside(one, state));
  if (focused) element.firstChild.focus();
}

function line(one) {
  const names = one.slate.slice(0, 8).map((shown) => String(shown.label)).join(", ");
  const when = sinceToday(one.at) ? clock(one.at, true) : `${day(one.at)}, ${clock(one.at)}`;
  const shown = names ? make("span", { class: "names" }, names) : make("span", { class: "names soft" }, "nothing");
  if (one.holdout) shown.prepend(make("span", { class: "tag" }, "holdout"), " ");
  return make("summary", {}, make("time", {}, when), shown, outcome(one));
}

function outcome(one) {
  if (one.clicked === null) return make("span", { class: "outcome soft" }, "no answer yet");
  if (one.waited) return make("span", { class: "outcome soft" }, "never answered");
  if (!one.clicked.length) return make("span", { class: "outcome soft" }, "nothing clicked");
  return make("span", { class: "outcome" }, make("span", { class: "tick", "aria-hidden": "true" }, "✓"), ` ${one.clicked.join(", ")}`);
}

function inside(one, state) {
  const clicked = new Set(one.clicked || []);
  const rows = one.slate.map((shown, i) => row(shown, i + 1, make("span", { class: "name" }, String(shown.label)), clicked.has(shown.label)));
  const why = one.holdout ? `This visit belongs to the holdout: it was shown ${SHOWN[one.holdout]}.` : ending(one);
  return make("div", { class: "inside" },
    make("div", {}, make("h3", {}, "The visit"), features(one.context, state.feature_names), make("p", { class: "soft id" }, one.id)),
    make("div", {}, make("h3", {}, "What was shown"), make("ol", { class: "bars" }, ...rows), ...(why ? [make("p", { class: "soft" }, why)] : [])));
}

function features(context, names) {
  const numbers = Array.isArray(context);
  const pairs = numbers ? context.map((value, i) => [names && names.length === context.length ? names[i] : `number ${i + 1}`, value]) : Object.entries(context);
  const rows = pairs.slice(0, FEW).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, readable(value))]);
  if (pairs.length > FEW) rows.push(make("dt", {}, "…"), make("dd", {}, `${pairs.length - FEW} more`));
  return pairs.length ? make("dl", {}, ...rows) : make("p", { class: "soft" }, "Nothing is known of it.");
}

function readable(value) {
  if (value === null) return "unknown";
  if (Array.isArray(value)) return value.join(", ") || "none";
  return typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value);
}
