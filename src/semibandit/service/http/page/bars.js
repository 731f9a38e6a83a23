// A list of items with a bar for each: what was expected, and the extra for what is not known yet.

import { make, percent } from "./dom.js";

export function why(one) {
  const bonus = one.prob - one.estimate;
  return `${percent(one.estimate)} ${bonus < 0 ? "−" : "+"} ${percent(Math.abs(bonus))}`;
}

export function bar(one) {
  const expected = make("span", { class: "expected" }), doubt = make("span", { class: "doubt" });
  expected.style.width = `${100 * Math.min(1, Math.max(0, one.estimate))}%`;
  doubt.style.width = `${100 * Math.max(0, Math.min(1, one.prob) - Math.max(0, one.estimate))}%`;
  return make("span", { class: "bar-box", role: "img", "aria-label": `expected ${why(one)} extra` }, expected, doubt);
}

export function row(one, place, name, clicked = false) {
  const tags = make("span", { class: "tags" });
  if (one.probe) tags.append(make("span", { class: "tag", title: "It was given a free place to learn more about it" }, "trying it out"));
  if (clicked) tags.append(make("span", { class: "tick", role: "img", "aria-label": "clicked" }, "✓"));
  return make("li", {}, make("span", { class: "place" }, String(place)), name, bar(one),
    make("span", { class: "numbers" }, why(one)), tags);
}

export function ending(decision) { // why the list is not longer
  const size = decision.size ?? decision.slate.length, next = decision.next;
  const who = next ? ` Next in line was “${next.label}” (${why(next)}).` : "";
  if (size === 0) return `Nothing was worth showing here.${who}`;
  if (decision.slots !== null && size >= decision.slots) return `All ${decision.slots} places were taken.${who}`;
  return next ? `One more item would not have been worth its place.${who}` : "";
}
