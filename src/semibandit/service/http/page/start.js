// The first two commands, for this service, until they have arrived.

import { key, url } from "./api.js";
import { example } from "./context.js";
import { $, make } from "./dom.js";

const FEW = 20; // visits after which it is clear that the first command is known
let drawn = null;

export function drawStart(state) {
  const { decisions, feedback } = state.totals;
  $("start").hidden = feedback > 0 || decisions > FEW;
  if ($("start").hidden) return;
  const visit = state.latest.length ? state.latest[state.latest.length - 1] : null;
  const now = JSON.stringify([decisions > 0, visit && visit.id, state.features, key() !== ""]);
  if (drawn === now) return;
  drawn = now;
  $("start-title").textContent = decisions ? "Waiting for the first click" : "Waiting for the first visit";
  const rank = { id: "visit-1", context: example(state.features, state.n_features), slots: 3 };
  const told = { id: visit ? visit.id : "visit-1", clicked: visit ? visit.slate.slice(0, 1).map((one) => one.label) : [] };
  $("steps").replaceChildren(step("Ask what to show", "v1/rank", rank, decisions > 0), step("Tell what was clicked", "v1/feedback", told, false));
}

function command(path, body) {
  const quoted = JSON.stringify(body).replaceAll("'", "'\\''");
  const lines = [`curl ${url(path)}`, ...(key() ? ['-H "Authorization: Bearer $SEMIBANDIT_API_KEY"'] : []), "-H 'Content-Type: application/json'", `-d '${quoted}'`];
  return lines.join(" \\\n  ");
}

function step(title, path, body, done) {
  const text = command(path, body), copy = make("button", { type: "button", class: "quiet" }, "Copy");
  copy.addEventListener("click", () => copyText(text, copy));
  const state = make("span", { class: done ? "good" : "soft waiting" }, done ? "✓ arrived" : "waiting");
  return make("li", {}, make("div", { class: "head" }, make("h3", {}, title, " ", state), copy), make("pre", { tabindex: "0" }, make("code", {}, text)));
}

async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // without a secure context there is no clipboard: select it by hand
    const code = button.closest("li").querySelector("code"), range = document.createRange();
    range.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = document.execCommand("copy") ? "Copied" : "Press Ctrl+C";
    return;
  }
  button.textContent = "Copied";
}
