// A drawing for each item, on a grid of 24 by 24: no font and no network is needed.

import { make } from "../dom.js";

const ring = (x, y, r) => `M${x} ${y - r}a${r} ${r} 0 1 0 .01 0z`;

const DRAWN = {
  "Watering can": "M5 10h10v9H5z M15 17l4.5-8 M17.5 8l4 2 M7 10V8a3 3 0 0 1 6 0v2",
  "Tomato seeds": `M6 3h12v18H6z M6 7h12 ${ring(12, 14.5, 3.2)} M10.3 10.8l1.7 1 1.7-1`,
  "Clay pot": "M6 13h12 M7.5 13l1.4 8h6.2l1.4-8 M12 13V6 M12 9c0-3.5 2-5 5.5-5 0 3.5-2 5-5.5 5z M12 11c0-2.5-1.5-4-4.5-4 0 2.5 1.5 4 4.5 4z",
  "Tulip bulbs": "M8 3.5c-1 4 0 7.5 4 7.5s5-3.5 4-7.5l-2 2.5-2-3-2 3z M12 11v10 M12 20c-4 0-5.5-2.5-5.5-6 3.5 0 5.5 2.5 5.5 6z M12 20c4 0 5.5-2.5 5.5-6-3.5 0-5.5 2.5-5.5 6z",
  Rake: "M12 3v12 M5 20v-3a2 2 0 0 1 2-2h10a2 2 0 0 1 2 2v3 M9.7 15v5 M14.3 15v5",
  "Bird house": `M3.5 11L12 4l8.5 7 M6 9.5V21h12V9.5 ${ring(12, 13, 2)} M12 18h.01`,
  "Chef's knife": "M21 3L8.5 13.5 11 16C17 14 21 9 21 3z M9.5 14.5l-6 6",
  "Frying pan": `${ring(9, 14, 6.5)} ${ring(9, 14, 3.8)} M13.8 9.5L21 3`,
  "Coffee cup": "M5 10h11v6a4 4 0 0 1-4 4H9a4 4 0 0 1-4-4z M16 11h1.5a2.5 2.5 0 0 1 0 5H16 M8.5 7c-1.2-1.3 1.2-2 0-3.5 M12.5 7c-1.2-1.3 1.2-2 0-3.5",
  "Spice jar": "M8.5 3h7v4h-7z M7.5 7h9v12a2 2 0 0 1-2 2h-5a2 2 0 0 1-2-2z M7.5 11h9v5h-9",
  "Mixing bowl": "M3 11h18c0 5-3 9-7 9h-4c-4 0-7-4-7-9z M13 11l4.5-8 M8 14.5c.5 1.5 1.5 2.5 3 3",
  "Rolling pin": "M5 14l9-9 5 5-9 9z M7.5 16.5l-4 4 M16.5 7.5l4-4",
  "Crime novel": "M6 3.5h10a2 2 0 0 1 2 2v15H8a2 2 0 0 1-2-2z M9.8 8.7a2.2 2.2 0 1 1 3.3 1.9c-.8.5-1.1 1-1.1 2 M12 16h.01",
  Poems: "M12 7C10 5 7 4.5 3.5 4.5V18c3.5 0 6.5.5 8.5 2.5 2-2 5-2.5 8.5-2.5V4.5C17 4.5 14 5 12 7z M12 7v13.5",
  "Reading lamp": "M8 21h8 M12 21v-9 M6.5 12L9 4h6l2.5 8z",
  Bookmark: "M7 3h10v18l-5-4.5L7 21z",
  Atlas: `${ring(12, 12, 8.5)} M3.5 12h17 M12 3.5c-5 5-5 12 0 17 M12 3.5c5 5 5 12 0 17`,
  "Fountain pen": "M3.5 20.5L7 12l8-8 5 5-8 8z M3.5 20.5L9.5 14.5 M13 6l5 5",
  Football: `${ring(12, 12, 8.5)} M12 8.3l3.5 2.6-1.3 4.2H9.8l-1.3-4.2z M12 8.3V3.7 M15.5 10.9l4.5-1.5 M14.2 15.1l2.8 3.7 M9.8 15.1L7 18.8 M8.5 10.9L4 9.4`,
  Dumbbell: "M7 12h10 M7 7v10 M3.8 9.5v5 M17 7v10 M20.2 9.5v5",
  "Yoga mat": `${ring(7.5, 14, 4.5)} ${ring(7.5, 14, 1.8)} M7.5 9.5h12a1.5 1.5 0 0 1 1.5 1.5v6a1.5 1.5 0 0 1-1.5 1.5h-12`,
  Stopwatch: `${ring(12, 13.5, 7.5)} M12 13.5V9 M10 2.5h4 M12 2.5V6 M18 6l1.8 1.8`,
  "Tennis racket": `${ring(14.5, 9, 6)} M10 13L3.5 20.5 M14.5 3v12 M8.5 9h12`,
  Bicycle: `${ring(5.8, 15.5, 3.8)} ${ring(18.2, 15.5, 3.8)} M5.8 15.5l4-7h5.7l2.7 7 M9.8 8.5l2.7 7H5.8 M12.5 15.5l3-7-.7-2.5h2 M8 6h3`,
  Headphones: "M4 16v-3.5a8 8 0 0 1 16 0V16 M4 14.5h2.5V20H5.5A1.5 1.5 0 0 1 4 18.5z M20 14.5h-2.5V20h1a1.5 1.5 0 0 0 1.5-1.5z",
  Record: `${ring(12, 12, 8.5)} ${ring(12, 12, 2.8)} M12 12h.01 M6.5 12A5.5 5.5 0 0 1 12 6.5`,
  Guitar: `M14.7 9.3c-1.5-1.5-4-1.3-5 .3-.7 1.2-1.7 1.2-3 1.7a5.2 5.2 0 1 0 6 6c.5-1.3.5-2.3 1.7-3 1.6-1 1.8-3.5.3-5z ${ring(10.3, 13.7, 1.3)} M13.5 10.5L20 4 M18.3 3l2.7 2.7`,
  Microphone: "M9 6a3 3 0 0 1 6 0v5.5a3 3 0 0 1-6 0z M6 11a6 6 0 0 0 12 0 M12 17v4 M8.5 21h7",
  Drum: "M4 10a8 3 0 1 0 16 0a8 3 0 1 0-16 0z M4 10v7a8 3 0 0 0 16 0v-7 M3.5 3l6.5 6 M20.5 3L14 9 M12 13v7",
  Keyboard: "M3 6h18v12H3z M7.5 12v6 M12 12v6 M16.5 12v6 M6.5 6v6h2V6 M11 6v6h2V6 M15.5 6v6h2V6",
};
const BOX = "M4 8l8-4 8 4v8l-8 4-8-4z M4 8l8 4 8-4 M12 12v8"; // an item that was added meanwhile
const OF_KINDS = { Garden: "Tulip bulbs", Kitchen: "Frying pan", Reading: "Poems", Sport: "Football", Music: "Headphones" };

export const drawn = (d, attributes = {}) => make("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false", ...attributes }, make("path", { d }));

const drawing = (name) => (Object.hasOwn(DRAWN, name) ? DRAWN[name] : BOX);

export function picture(name, kind) {
  return make("span", { class: `picture ${kind}` }, drawn(drawing(OF_KINDS[name] || name)));
}

export const heart = () => drawn("M12 20C6 15.5 3.5 12.5 3.5 9A4.5 4.5 0 0 1 12 7a4.5 4.5 0 0 1 8.5 2c0 3.5-2.5 6.5-8.5 11z", { class: "heart" });
