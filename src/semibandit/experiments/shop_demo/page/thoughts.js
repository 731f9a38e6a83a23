// What the learner thinks that this visitor likes, by kind and item by item.

import { bar } from "../bars.js";
import { $, make, percent, sum, write } from "../dom.js";
import { picture } from "./pictures.js";

export function drawThoughts(all, shop, lists) {
  const kinds = Object.keys(shop.kinds).map((kind) => mean(kind, all.filter((one) => shop.kindOf(one.label) === kind)));
  const known = kinds.filter(Boolean).sort((a, b) => b.estimate - a.estimate);
  update($("kinds"), known, (kind) => kind);
  update($("items"), [...all].sort((a, b) => b.estimate - a.estimate), shop.kindOf);
  if (!known.length) return;
  const n = lists.length, likes = lists.some((one) => one.liked) ? `${known[0].label} most of all` : "nothing so far";
  write("thinks-note", n ? `After ${n} ${n === 1 ? "answer" : "answers"}: ${likes}.` : "Nothing of you yet: these are the tastes of all visitors in this weather.");
}

function mean(kind, some) {
  if (!some.length) return null;
  return { label: kind, estimate: sum(some, "estimate") / some.length, prob: sum(some, "prob") / some.length };
}

function update(list, rows, kindOf) { // bars that are there move to their new length
  const there = new Map([...list.children].map((one) => [one.dataset.label, one]));
  list.append(...rows.map((one) => {
    const row = there.get(String(one.label)) || make("li", { "data-label": one.label }, picture(String(one.label), kindOf(one.label)), make("span", { class: "name" }, String(one.label)), bar(one), make("span", { class: "number" }));
    there.delete(String(one.label));
    const now = bar(one), box = row.querySelector(".bar-box");
    box.setAttribute("aria-label", now.getAttribute("aria-label"));
    [...now.children].forEach((part, i) => { box.children[i].style.width = part.style.width; });
    row.querySelector(".number").textContent = percent(one.estimate);
    return row;
  }));
  for (const gone of there.values()) gone.remove();
}
