// Elements and numbers. Text goes in as text, never as HTML.

export const $ = (id) => document.getElementById(id);
const SVG = ["svg", "rect", "line", "path", "circle", "text", "title", "g"];

export function make(tag, attributes, ...children) {
  const one = SVG.includes(tag) ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined) one.setAttribute(name, value);
  }
  one.append(...children);
  return one;
}

export function write(id, text) { // only what changed: a screen reader need not hear the rest again
  const one = $(id);
  if (one.textContent !== text) one.textContent = text;
}

export const count = (n) => Math.round(n).toLocaleString("en");
export const sum = (list, name) => list.reduce((total, one) => total + one[name], 0);

export function percent(part, whole = 1) {
  if (!whole) return "–";
  const share = (100 * part) / whole;
  return share.toFixed(share !== 0 && Math.abs(share) < 9.95 ? 1 : 0) + "%";
}

export function duration(ms) {
  if (ms === null) return "–";
  if (ms >= 1000) return (ms / 1000).toFixed(1) + " s";
  return ms.toFixed(ms < 10 ? 1 : 0) + " ms";
}

const DAY = 86400;

export function day(at) {
  const that = new Date(1000 * at), sameYear = that.getFullYear() === new Date().getFullYear();
  return that.toLocaleDateString("en-GB", { day: "numeric", month: "long", ...(sameYear ? {} : { year: "numeric" }) });
}

export function clock(at, seconds = false) {
  const more = seconds ? { second: "2-digit" } : {};
  return new Date(1000 * at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...more });
}

const UNITS = [["day", DAY], ["hour", 3600], ["minute", 60], ["second", 1]];

export function ago(at) {
  const seconds = Date.now() / 1000 - at;
  if (seconds < 10) return "just now";
  const [name, long] = UNITS.find(([, size]) => seconds >= size), n = Math.floor(seconds / long);
  return `${n} ${name}${n === 1 ? "" : "s"} ago`;
}

export function span(seconds) {
  const [name, long] = UNITS.find(([, size]) => seconds >= size) || UNITS.at(-1), n = Math.max(1, Math.round(seconds / long));
  return `${count(n)} ${name}${n === 1 ? "" : "s"}`;
}

export const sinceToday = (at) => new Date(1000 * at).toDateString() === new Date().toDateString();
