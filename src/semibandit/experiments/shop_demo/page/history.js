// What became of the lists so far: one bar for each, as high as items of it were liked.

import { $, make, percent, sum, write } from "../dom.js";

const BARS = 20, LAST = 10, FEW = 5;

export function drawHistory(visitor, slots) {
  const lists = visitor.lists, last = lists.slice(-LAST), good = last.filter((one) => one.liked > 0).length;
  write("score", lists.length ? `${good} of ${last.length}` : "–");
  write("score-note", lists.length ? `of your last ${last.length === 1 ? "list" : "lists"} had something that you like` : "answer a few lists to see");
  const bars = lists.slice(-BARS).map((one) => {
    const bar = make("span", { class: one.liked ? "some" : "none", title: `${one.liked} of ${one.shown}` });
    bar.style.height = percent(one.liked, slots);
    return bar;
  });
  $("liked").replaceChildren(...bars);
  $("liked").setAttribute("aria-label", `Items liked in each list: ${lists.slice(-BARS).map((one) => one.liked).join(", ") || "none yet"}`);
  write("compare", comparison(lists));
}

function comparison(lists) {
  if (lists.length < 2 * FEW) return `Each bar is a list: how many of its items you liked. It takes about 10 lists to know you.`;
  const share = (some) => `${sum(some, "liked")} of ${sum(some, "shown")} items`;
  return `Your first ${FEW} lists: ${share(lists.slice(0, FEW))} liked. Your last ${FEW}: ${share(lists.slice(-FEW))}.`;
}
