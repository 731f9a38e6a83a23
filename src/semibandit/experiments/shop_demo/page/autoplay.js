// Somebody who likes one kind of items plays in the person's place, slowly enough to be watched.

import { $, make } from "../dom.js";
import { likeKind } from "./cards.js";

const LISTS = 12, LOOK = 450, NEXT = 350; // milliseconds to see what is liked, and the next list
const WHO = { Garden: "a gardener", Kitchen: "a cook", Reading: "a reader", Sport: "an athlete", Music: "a musician" };
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
let left = 0;

export function startAutoplay(shop, answer) {
  $("who").append(...Object.keys(shop.kinds).map((kind) => make("option", { value: kind }, WHO[kind] || kind)));
  $("watch").addEventListener("click", () => { left ? (left = 0) : play(answer); });
}

async function play(answer) {
  for (left = LISTS; left > 0 && !$("next").disabled; left = Math.max(0, left - 1)) {
    $("watch").textContent = `Stop (${left} more)`;
    likeKind($("who").value);
    await pause(LOOK);
    if (!left) break;
    await answer();
    await pause(NEXT);
  }
  left = 0;
  $("watch").textContent = `Watch ${LISTS} lists`;
}
