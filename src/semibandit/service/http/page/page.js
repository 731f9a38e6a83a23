// The page asks for the state every two seconds, and draws what it says.

import { ask, onKey } from "./api.js";
import { buildFields } from "./context.js";
import { $, count, write } from "./dom.js";
import { drawItems, startItems } from "./items.js";
import { drawCalm, drawOverview, drawTrouble, onRange } from "./overview.js";
import { drawStart } from "./start.js";
import { startTrying } from "./try.js";
import { drawVisits } from "./visits.js";

const EVERY = 2000; // milliseconds
let looking = null, next = 0;

async function draw(again) {
  const state = await ask("v1/state");
  const features = count(state.features ? state.features.length : state.n_features);
  const drawn = state.policy ? `, lists drawn by ${state.policy}` : "";
  write("about", `${count(state.n_labels)} items, ${features} features${drawn}`);
  $("places").max = state.limits.slots;
  drawStart(state);
  buildFields(state);
  drawVisits(state);
  $("loaded").hidden = false;
  await drawOverview(state, again);
  await drawItems(state);
}

async function look(again = false) {
  if (looking) await looking; // one at a time, but what was asked for is done
  looking = draw(again).catch(trouble);
  await looking;
  looking = null;
}

function trouble(why) {
  if (why.status === undefined) throw why; // a bug of this page
  if (why.status === 0) drawTrouble("The service does not answer.", "Check that it is running. This page keeps trying.");
  else if (why.status === 401) drawCalm("It is locked.");
  else drawTrouble(`The service says: ${why.message}.`, "This page keeps trying.");
}

function wait() {
  clearTimeout(next);
  next = setTimeout(async () => { if (!document.hidden) await look(); wait(); }, EVERY);
}

startItems();
startTrying(look);
onRange(() => look(true));
onKey(() => look(true));
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
look();
wait();
