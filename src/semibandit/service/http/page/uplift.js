// What the learner gains over the holdout, in plain words.

import { $, clock, count, day, make, percent, span, write } from "./dom.js";

const OTHERS = { uniform: "random lists", "most-clicked": "the most clicked items" };
const SMALL = { uniform: "items drawn at random", "most-clicked": "the items with the most clicks" };

export function drawUplift(uplift, wait, policy) {
  $("uplift").hidden = uplift === null;
  if (uplift === null) return;
  const gain = uplift.visits_with_a_click, [head, note] = gain.can_tell ? told(gain, uplift) : untold(gain, uplift);
  write("uplift-gain", head);
  write("uplift-note", note);
  drawArms(uplift);
  write("uplift-how", how(uplift, wait, policy));
}

function told(gain, uplift) {
  const [low, high] = gain.relative_interval, others = OTHERS[uplift.policy];
  const better = gain.difference > 0, word = better ? "more" : "fewer", sign = better ? 1 : -1;
  const ends = [low, high].map((end) => (end === null ? null : Math.abs(end))), [near, far] = better ? ends : ends.reverse();
  const between = far === null ? `at least ${percent(near)}` : `between ${percent(near)} and ${percent(far)}`;
  const head = gain.relative === null ? word[0].toUpperCase() + word.slice(1) : `${percent(sign * gain.relative)} ${word}`;
  return [head, `visits with a click than ${others} (${between})`];
}

function untold(gain, uplift) {
  if (uplift.few_visitors !== null && uplift.holdout.visits > uplift.few_visitors) return ["Cannot tell yet", `only ${count(uplift.few_visitors)} visitors belong to the holdout, however often they come`];
  const between = range(gain);
  if (gain.visits_to_go === null) return ["Cannot tell yet", `${between}how long it takes is not known: there are too few visits, or hardly any difference`];
  const time = gain.seconds_to_go === null ? "" : `, ${span(gain.seconds_to_go)}`;
  return ["Cannot tell yet", `${between}about ${count(gain.visits_to_go)} more visits${time}, if things stay as they are`];
}

function range(gain) { // of what is possible, if both have visits
  const [low, high] = gain.relative_interval;
  if (low === null) return "";
  return high === null ? `at most ${percent(-low)} fewer visits with a click; ` : `between ${percent(-low)} fewer and ${percent(high)} more visits with a click; `;
}

function drawArms(uplift) {
  const rows = [["The learner", uplift.learner], [`The holdout: ${OTHERS[uplift.policy]}`, uplift.holdout]];
  $("uplift-table").tBodies[0].replaceChildren(...rows.map(([name, arm]) => make("tr", {},
    make("th", { scope: "row" }, name), make("td", {}, count(arm.visits)),
    make("td", {}, percent(arm.clicked_visits, arm.visits)),
    make("td", { class: "mid" }, arm.visits ? arm.clicks_per_visit.toFixed(2) : "–"))));
}

function how(uplift, wait, policy) {
  const small = `${percent(uplift.share)} of the visitors (by subject, or by visit if there is none) are shown ${SMALL[uplift.policy]}${uplift.learned ? "" : ", and the learner does not learn from them"}.`;
  const counts = wait === null ? "Only visits that were answered count." : "Visits that nobody answers count as nothing clicked.";
  const since = uplift.since === null ? "" : ` This comparison began on ${day(uplift.since)}, ${clock(uplift.since)}.`;
  const drawn = policy === null ? "" : ` The learner's visits include lists drawn at random by ${policy}.`;
  const sure = `The range is right with ${percent(uplift.confidence)} confidence, however often one looks.`;
  return `${small} ${counts}${since}${drawn} ${sure}`;
}
