// A list as cards to be tapped: what it expects, and what it shows only to learn about it.

import { bar } from "../bars.js";
import { $, make, percent } from "../dom.js";
import { heart, picture } from "./pictures.js";

let shown = []; // the labels of the cards: they may be numbers

export function showCards(slate, kindOf, best, onChange) {
  shown = slate.map((one) => one.label);
  $("cards").replaceChildren(...slate.map((one) => card(one, kindOf(one.label), !best.includes(one.label), onChange)));
}

function card(one, kind, tried, onChange) {
  const name = String(one.label);
  const button = make("button", { type: "button", class: "item", "aria-pressed": "false", "data-label": name, "data-kind": kind },
    picture(name, kind), make("span", { class: "name" }, name),
    make("span", { class: "why" }, make("span", {}, kind), make("span", {}, percent(one.estimate))), bar(one), heart());
  if (tried || one.probe) button.append(make("span", { class: "tag", title: "Others look better so far, but it knows little of this one" }, "just trying"));
  button.addEventListener("click", () => { press(button); onChange(); });
  return button;
}

const cards = () => [...$("cards").children];
const isLiked = (button) => button.getAttribute("aria-pressed") === "true";

export function press(button, yes = !isLiked(button)) { button.setAttribute("aria-pressed", String(yes)); }

export const liked = () => shown.filter((_, i) => isLiked(cards()[i]));

export function likeKind(kind) {
  for (const one of cards()) press(one, one.dataset.kind === kind);
}

export function lock(yes) {
  for (const one of [...cards(), $("next")]) one.disabled = yes;
}
