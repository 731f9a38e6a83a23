// The items: search, sort, pages; with a key that may write, add and retire.

import { ask } from "./api.js";
import { $, ago, count, make, percent } from "./dom.js";

const PAGE = 15, EVERY = 5; // rows, and turns between two looks
let sort = "shown", order = "desc", offset = 0, total = 0, turn = 0, numbered = false, mayWrite = false, asked = 0;

export async function drawItems(state) {
  mayWrite = state.may_write;
  $("add-open").hidden = !mayWrite;
  const busy = $("item-table").tBodies[0].contains(document.activeElement) || $("confirm").open;
  if (turn++ % EVERY === 0 && !busy) await load();
}

async function load() {
  const mine = ++asked;
  const words = new URLSearchParams({ search: $("search").value, sort, order, never_shown: $("never-shown").checked, offset, limit: PAGE });
  const found = await ask(`v1/items?${words}`);
  if (mine !== asked) return; // something else was typed meanwhile
  total = found.total;
  if (found.items.length) numbered = typeof found.items[0].label === "number";
  if (offset && offset >= total) { offset = Math.max(0, Math.ceil(total / PAGE) - 1) * PAGE; await load(); return; }
  draw(found.items);
}

function draw(items) {
  $("item-table").tBodies[0].replaceChildren(...items.map(row));
  const last = Math.min(total, offset + PAGE);
  $("page-note").textContent = total ? `${count(offset + 1)}–${count(last)} of ${count(total)}` : "No items found.";
  $("before").disabled = offset === 0;
  $("after").disabled = last >= total;
  $("add-label").textContent = numbered ? "How many more? They are numbered." : "Names, separated by commas";
  for (const button of document.querySelectorAll("#item-table th button")) {
    const on = button.dataset.sort === sort;
    button.parentElement.setAttribute("aria-sort", on ? { asc: "ascending", desc: "descending" }[order] : "none");
  }
}

function row(one) {
  const cell = (text, kind) => make("td", { class: kind }, text);
  const retire = make("button", { type: "button", class: "quiet", "aria-label": `Retire ${one.label}` }, "Retire");
  retire.addEventListener("click", () => askToRetire(one.label));
  const seen = one.last_shown === null ? "never" : ago(one.last_shown);
  return make("tr", {}, make("th", { scope: "row" }, String(one.label)), cell(count(one.shown)), cell(count(one.clicked), "mid"),
    cell(one.rate === null ? "–" : percent(one.rate)), cell(one.estimate === null ? "–" : percent(one.estimate), "wide"),
    cell(seen, "wide"), make("td", { class: "act" }, ...(mayWrite ? [retire] : [])));
}

async function attempt(work) { // what goes wrong is said above the table
  try {
    $("items-note").textContent = "";
    await work();
  } catch (why) {
    $("items-note").textContent = why.message;
  }
}

function askToRetire(label) {
  const box = $("confirm");
  $("confirm-title").textContent = `Retire “${label}”?`;
  box.returnValue = "no";
  box.onclose = () => {
    if (box.returnValue === "yes") attempt(async () => { await ask("v1/labels", { labels: [label] }, "DELETE"); await load(); $("search").focus(); });
  };
  box.showModal();
}

async function add(event) {
  event.preventDefault();
  const typed = $("add-names").value;
  await attempt(async () => {
    const labels = numbered ? Number(typed) : typed.split(",").map((name) => name.trim()).filter(Boolean);
    await ask("v1/labels", { labels });
    $("add-names").value = "";
    await load();
  });
}

function again() { offset = 0; return attempt(load); }

function sortBy(name) {
  order = name === sort ? { asc: "desc", desc: "asc" }[order] : name === "label" ? "asc" : "desc";
  sort = name;
  again();
}

function toggleAdd(open) {
  $("add-form").hidden = !open;
  $("add-open").setAttribute("aria-expanded", String(open));
  (open ? $("add-names") : $("add-open")).focus();
}

export function startItems() {
  let later = 0;
  $("search").addEventListener("input", () => { clearTimeout(later); later = setTimeout(again, 150); });
  $("never-shown").addEventListener("change", again);
  for (const button of document.querySelectorAll("#item-table th button")) button.addEventListener("click", () => sortBy(button.dataset.sort));
  $("before").addEventListener("click", () => { offset = Math.max(0, offset - PAGE); attempt(load); });
  $("after").addEventListener("click", () => { offset += PAGE; attempt(load); });
  $("add-open").addEventListener("click", () => toggleAdd($("add-form").hidden));
  $("add-form").addEventListener("submit", add);
  $("add-form").addEventListener("keydown", (event) => { if (event.key === "Escape") toggleAdd(false); });
}
