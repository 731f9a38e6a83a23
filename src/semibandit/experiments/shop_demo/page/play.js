// The person plays a visitor: sees lists, says what they like, and watches what is learned.

import { ask, onKey, useKey } from "../api.js";
import { $, make } from "../dom.js";
import { startAutoplay } from "./autoplay.js";
import { liked, lock, showCards } from "./cards.js";
import { watchCrowd } from "./crowd.js";
import { drawHistory } from "./history.js";
import { drawThoughts } from "./thoughts.js";
import { Visitor } from "./visitor.js";

const TRIES = 40; // how often it is asked whether the last answer is learned: it is a matter of milliseconds
let shop = null, visitor = new Visitor(), decision = null;

const weather = () => document.querySelector("#weather input:checked").value;
const context = () => ({ visitor: visitor.name, weather: weather() });
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function opinions(after) { // of all items, by a dry run that leaves no trace
  for (let tries = 0; ; tries++) {
    const all = await ask("v1/rank?dry_run=true", { context: context(), slots: 1000 });
    if (all.version > after || tries === TRIES) return all.slate;
    await pause(25);
  }
}

async function newList(after = -1) {
  const all = await opinions(after), request = { context: context(), slots: shop.slots };
  decision = await ask("v1/rank", request);
  const best = [...all].sort((a, b) => b.estimate - a.estimate).slice(0, shop.slots).map((one) => one.label);
  $("list-title").textContent = `List ${visitor.lists.length + 1}`;
  showCards(decision.slate, shop.kindOf, best, nameButton);
  nameButton();
  drawThoughts(all, shop, visitor.lists);
  drawHistory(visitor, shop.slots);
  $("asked").textContent = `POST /v1/rank\n${JSON.stringify(request, null, 1)}\n\n${JSON.stringify(decision, null, 1)}`;
}

function nameButton() {
  const n = liked().length;
  $("next").textContent = n ? `I like ${n === 1 ? "this" : `these ${n}`}, next list` : "None of these, next list";
}

async function answer() {
  if (decision === null || $("next").disabled) return;
  const clicked = liked(), told = { id: decision.id, clicked };
  lock(true);
  await guarded(async () => {
    await ask("v1/feedback", told);
    $("told").textContent = `POST /v1/feedback\n${JSON.stringify(told, null, 1)}`;
    visitor.add(decision.slate.length, clicked.length);
    await newList(decision.version);
  });
}

async function guarded(act) { // what the service refuses is said, and the list stays as it is
  try {
    await act();
    $("problem").hidden = true;
    $("loaded").hidden = false;
  } catch (why) {
    if (why.status === undefined) throw why; // a bug of this page
    $("problem").hidden = why.status === 401;
    $("problem").textContent = trouble(why);
  } finally {
    lock(false);
  }
}

function trouble(why) {
  if (why.status === 0) return "The demo does not answer. If it was ended, start it again and load this page anew.";
  const full = why.status === 422 ? " To make room, end the demo and start it again." : "";
  return `The service says: ${why.message}.${full}`;
}

async function open() {
  await guarded(async () => {
    if (shop === null) setUp(await ask("demo/shop"));
    await newList();
  });
}

function setUp(about) {
  const kindOf = new Map(Object.entries(about.kinds).flatMap(([kind, names]) => names.map((name) => [name, kind])));
  shop = { ...about, kindOf: (name) => kindOf.get(name) || "Other" };
  $("rules").textContent = `It shows ${about.slots} of its ${kindOf.size} items at a time. Tap all that you like, or none. It learns you from your answers alone.`;
  const radios = about.weather.map((one, i) => {
    const input = make("input", { type: "radio", name: "weather", value: one, ...(i ? {} : { checked: "" }) });
    input.addEventListener("change", () => guarded(() => newList()));
    return make("label", {}, input, make("span", {}, one === "sun" ? "Sunny" : "Rainy"));
  });
  $("weather").append(...radios);
  $("all-items").open = matchMedia("(min-width: 56.01rem)").matches; // where there is room for it
  startAutoplay(shop, answer);
  watchCrowd(shop);
}

function startOver() {
  visitor = new Visitor({ fresh: true });
  guarded(() => newList());
}

const given = new URLSearchParams(location.hash.slice(1)).get("key");
if (given) { // the link had it: it is kept for this tab, and is not in the address any more
  useKey(given);
  history.replaceState(null, "", location.pathname);
}
$("next").addEventListener("click", answer);
$("again").addEventListener("click", startOver);
onKey(open);
open();
