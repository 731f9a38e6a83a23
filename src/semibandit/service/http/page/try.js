// Try a visit: a dry run, unless it is to be recorded; then what was clicked can be sent, too.

import { ask } from "./api.js";
import { ending, row } from "./bars.js";
import { readContext } from "./context.js";
import { $, make } from "./dom.js";

export function startTrying(look) {
  $("ask").addEventListener("submit", (event) => { event.preventDefault(); decide(look); });
}

function say(text, kind) { $("answer").append(make("p", { class: kind }, text)); }

async function decide(look) {
  const record = $("record").checked;
  try {
    const slots = $("places").value === "" ? null : Number($("places").value);
    const decision = await ask(record ? "v1/rank" : "v1/rank?dry_run=true", { context: readContext(), slots });
    $("answer").replaceChildren();
    show({ ...decision, slots, next: null }, record, look);
  } catch (why) {
    $("answer").replaceChildren();
    say(why.message, "problem");
  }
  if (record) look();
}

function show(decision, record, look) {
  const rows = decision.slate.map((one, i) => row(one, i + 1, record ? toggle(one) : make("span", { class: "name" }, String(one.label))));
  $("answer").append(make("ol", { class: "bars" }, ...rows));
  const why = ending(decision);
  if (why) say(why, "soft");
  if (!record) {
    say("Only tried: nothing was recorded.", "soft");
    return;
  }
  const send = make("button", { type: "button", class: "primary", id: "send" }, "Send what was clicked");
  send.addEventListener("click", () => sendFeedback(decision, send, look));
  $("answer").append(send);
}

function toggle(one) {
  const name = make("button", { type: "button", class: "name", "aria-pressed": "false" }, String(one.label));
  name.addEventListener("click", () => name.setAttribute("aria-pressed", String(name.getAttribute("aria-pressed") !== "true")));
  return name;
}

async function sendFeedback(decision, send, look) {
  const buttons = [...$("answer").querySelectorAll(".bars button")];
  const clicked = decision.slate.filter((_, i) => buttons[i].getAttribute("aria-pressed") === "true");
  try {
    await ask("v1/feedback", { id: decision.id, clicked: clicked.map((one) => one.label) });
    for (const one of [...buttons, send]) one.disabled = true;
    say(clicked.length ? "Thank you, it is learned." : "Nothing clicked: that is learned, too.", "good");
  } catch (why) {
    say(why.message, "problem");
  }
  look();
}
