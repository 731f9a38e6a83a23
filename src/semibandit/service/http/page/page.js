"use strict";
// The page asks /state every two seconds and draws what it says. Text goes in as text, never as HTML.

const $ = (id) => document.getElementById(id);
const every = 2000;
let shape = null; // what the form was built for

function key() { return sessionStorage.getItem("semibandit-key") || ""; }

async function ask(path, body) {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  if (key()) headers.Authorization = "Bearer " + key();
  const method = body === undefined ? "GET" : "POST";
  const answer = await fetch(path, { method, headers, body: JSON.stringify(body) });
  const said = await answer.json();
  if (answer.status === 401 || answer.status === 403) askForKey(said.detail);
  if (!answer.ok) throw new Error(said.detail);
  return said;
}

function askForKey(why) {
  $("key-box").hidden = false;
  $("key-said").textContent = key() ? why : "";
}

function make(tag, attributes, ...children) {
  const svg = ["svg", "rect", "line", "polyline", "circle", "text", "title", "g"].includes(tag);
  const one = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) one.setAttribute(name, value);
  for (const child of children) one.append(child);
  return one;
}

const percent = (x) => (100 * x).toFixed(1) + "%";
const sum = (list, name) => list.reduce((total, one) => total + one[name], 0);
const count = (n) => n.toLocaleString("en");

// -- the numbers ----------------------------------------------------------------------------------

function draw(state) {
  const minutes = state.minutes, now = minutes[minutes.length - 1];
  $("about").textContent =
    `${state.learner}, ${count(state.n_features)} features, ${count(state.n_labels)} labels`;
  health(state.healthy, state.healthy ? "well" : "the store is away, or it does not learn any more");
  $("decisions").textContent = count(state.decisions);
  $("decisions-minute").textContent = `${count(now.decisions)} this minute`;
  $("clicks").textContent = count(state.clicks);
  $("clicks-minute").textContent = `${count(now.clicks)} this minute`;
  $("rate").textContent = state.shown ? percent(state.clicks / state.shown) : "–";
  const bins = state.calibration.filter((one) => one.labels);
  const expected = bins.reduce((total, one) => total + one.labels * one.estimate, 0);
  $("rate-estimate").textContent = state.shown ? `expected ${percent(expected / state.shown)}` : "no feedback yet";
  const decided = sum(minutes, "decisions"), shown = sum(minutes, "size");
  $("size").textContent = decided ? (shown / decided).toFixed(2) : "–";
  advise(minutes.slice(-10), state.settings.a);
  $("width").textContent = shown ? (sum(minutes, "width") / shown).toFixed(3) : "–";
  $("version").textContent = count(state.version - 1);
  $("backlog").textContent = state.backlog ? `${count(state.backlog)} waiting` : "all feedback";
  drawTraffic(minutes);
  drawCalibration(bins);
  drawWidths(minutes);
  drawTop(state.top);
  drawLatest(state.latest);
  buildForm(state);
}

function advise(minutes, a) { // a service that shows nothing learns nothing, and so it stays
  const decided = sum(minutes, "decisions");
  $("advice").hidden = decided < 50 || sum(minutes, "size") > 0.1 * decided;
  $("advice").textContent = `Hardly anything is shown: with a = ${a} a label is worth its place if it is relevant ` +
    `about ${percent(1 - a)} of the time, and what is not shown is not learned. If clicks are rarer, a should be higher.`;
}

function health(well, text) {
  $("health").className = well ? "well" : "ill";
  $("health-text").textContent = text;
}

function picture(id, label, ...children) {
  const box = { viewBox: "0 0 320 150", role: "img", "aria-label": label };
  $(id).replaceChildren(make("svg", box, ...children));
}

const write = (x, y, text, anchor) => make("text", { x, y, "text-anchor": anchor || "start" }, text);

function drawTraffic(minutes) {
  const most = Math.max(1, ...minutes.map((one) => Math.max(one.decisions, one.clicks)));
  const bars = minutes.flatMap((one, i) => {
    const x = 316 - 5 * (minutes.length - i);
    return ["decisions", "clicks"].map((what, k) => {
      const height = (110 * one[what]) / most;
      return make("rect", { class: "bar-" + what, x: x + 2 * k, y: 125 - height, width: 2, height });
    });
  });
  const last = minutes[minutes.length - 1];
  picture("traffic", `${last.decisions} decisions and ${last.clicks} clicks this minute`,
    make("line", { class: "axis", x1: 4, y1: 125, x2: 316, y2: 125 }), ...bars,
    write(4, 12, String(most)), write(4, 142, "an hour ago"), write(316, 142, "now", "end"));
}

function drawCalibration(bins) {
  const all = Math.max(1, sum(bins, "labels")), x = (p) => 30 + 270 * p, y = (p) => 125 - 115 * p;
  const spots = bins.map((one) => {
    const rate = one.clicks / one.labels, r = 3 + 12 * Math.sqrt(one.labels / all);
    const title = `estimate ${percent(one.estimate)}, clicked ${percent(rate)}, ${one.labels} times`;
    return make("circle", { class: "spot", cx: x(one.estimate), cy: y(rate), r }, make("title", {}, title));
  });
  picture("calibration", `click rate against the estimate in ${bins.length} groups`,
    make("line", { class: "axis", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
    make("line", { class: "axis", x1: x(0), y1: y(0), x2: x(1), y2: y(0) }),
    make("line", { class: "axis", x1: x(0), y1: y(0), x2: x(0), y2: y(1) }), ...spots,
    write(26, 14, "1", "end"), write(26, 129, "0", "end"), write(30, 142, "estimate 0"), write(300, 142, "1", "end"));
}

function drawWidths(minutes) {
  const with_some = minutes.map((one, i) => [i, one]).filter(([, one]) => one.size);
  const widths = with_some.map(([, one]) => one.width / one.size), most = Math.max(1e-9, ...widths);
  const at = with_some.map(([i], k) => [316 - 5 * (minutes.length - i), 125 - (105 * widths[k]) / most]);
  const points = at.map((one) => one.join(",")).join(" ");
  const end = at.length ? [make("circle", { class: "spot", cx: at[at.length - 1][0], cy: at[at.length - 1][1], r: 3 })] : [];
  picture("widths", widths.length ? `mean width ${widths[widths.length - 1].toFixed(3)}` : "nothing was shown yet",
    make("line", { class: "axis", x1: 4, y1: 125, x2: 316, y2: 125 }),
    make("polyline", { class: "line", points }), ...end,
    write(4, 12, widths.length ? most.toFixed(3) : ""), write(4, 142, "an hour ago"), write(316, 142, "now", "end"));
}

function drawTop(top) {
  const rows = top.map((one) => make("tr", {}, make("td", {}, String(one.label)), make("td", {}, count(one.clicked)),
    make("td", {}, count(one.shown)), make("td", {}, percent(one.clicked / one.shown))));
  $("top").tBodies[0].replaceChildren(...rows);
}

// -- decisions ------------------------------------------------------------------------------------

function meter(one) {
  const estimate = make("span", { class: "estimate" }), bonus = make("span", { class: "bonus" });
  estimate.style.width = percent(one.estimate);
  bonus.style.width = percent(Math.max(0, one.prob - one.estimate));
  return make("span", { class: "meter", role: "img", "aria-label": why(one) }, estimate, bonus);
}

function why(one) {
  const bonus = one.prob - one.estimate;
  return `${one.estimate.toFixed(2)} ${bonus < 0 ? "−" : "+"} ${Math.abs(bonus).toFixed(2)} = ${one.prob.toFixed(2)}`;
}

function row(one, name) {
  const numbers = make("span", { class: "numbers" });
  if (one.probe) numbers.append(probeTag(), " ");
  numbers.append(why(one));
  return make("li", {}, name, meter(one), numbers);
}

function probeTag() {
  const title = "Shown only to be tried: a free slot, and a label that might be better than it looks";
  return make("abbr", { class: "probe", title }, "probe");
}

function cut(decision) {
  const next = decision.next, full = decision.slots !== null && decision.slate.length >= decision.slots;
  const who = next ? `; next in line: ${next.label} (${why(next)})` : "";
  if (full) return make("p", { class: "cut" }, `cut: all ${decision.slots} slots are taken${who}`);
  if (next === null) return make("p", { class: "cut" }, `${decision.slate.length} shown, slots ${decision.slots ?? "unlimited"}`);
  return make("p", { class: "cut" }, `cut: a further label would cost more than it is worth${who}`);
}

function drawLatest(latest) {
  const items = latest.map((one) => {
    const clicked = new Set(one.clicked || []);
    const rows = one.slate.map((label) => {
      const name = make("span", { class: "name" }, String(label.label) + " ");
      if (clicked.has(label.label)) name.append(make("span", { class: "tick" }, "✓"));
      return row(label, name);
    });
    const state = one.clicked === null ? "no feedback yet" : `${one.clicked.length} clicked`;
    return make("li", {}, make("div", { class: "head" }, make("b", {}, one.id),
      make("span", {}, new Date(1000 * one.at).toLocaleTimeString()), make("span", {}, state)),
      make("ul", { class: "slate" }, ...rows), cut(one));
  });
  $("latest").replaceChildren(...items);
}

// -- try a context --------------------------------------------------------------------------------

const few = 24; // features up to which each has a field of its own

function buildForm(state) {
  const features = state.features;
  const now = JSON.stringify([features && features.map((one) => [one.name, one.kind, one.open]), state.n_features]);
  if (shape !== now) $("features").replaceChildren(...fields(features, state.n_features));
  shape = now; // what was typed stays while values are learned
  if (features) features.forEach(offerValues);
}

function fields(features, size) {
  if (features && features.length <= few && features[0].kind !== "hashed") return features.map(field);
  const common = { id: "context", spellcheck: "false", autocomplete: "off" };
  if (features) {
    const text = make("textarea", { ...common, rows: 4, "data-kind": "json" }, example(features));
    return [make("label", { class: "whole" }, "Context: {name: value} as JSON; what is left out is unknown", text)];
  }
  const value = Array.from({ length: size }, (_, i) => (i ? 0 : 1)).join(", ");
  return [make("label", { class: "whole" }, `Context: ${size} numbers`, make("input", { ...common, value }))];
}

function example(features) {
  if (features[0].kind === "hashed") return '{"device": "phone", "price": 9.5, "tags": ["new", "sale"]}';
  const value = { number: () => 1, category: (one) => one.values[0] ?? null, set: (one) => one.values.slice(0, 2) };
  return JSON.stringify(Object.fromEntries(features.slice(0, 3).map((one) => [one.name, value[one.kind](one)])));
}

function field(one, i) {
  const common = { "data-name": one.name, "data-kind": one.kind, autocomplete: "off", placeholder: "unknown" };
  if (one.kind === "number") {
    return make("label", {}, one.name, make("input", { ...common, type: "number", step: "any", inputmode: "decimal" }));
  }
  if (one.kind === "category" && !one.open && one.values.length === one.limit) {
    const options = one.values.map((value) => make("option", { value }, value));
    return make("label", {}, one.name, make("select", common, make("option", { value: "" }, "unknown"), ...options));
  }
  const name = one.kind === "set" ? `${one.name} (separated by commas)` : one.name;
  const input = make("input", { ...common, list: `values-${i}`, spellcheck: "false" });
  return make("label", {}, name, input, make("datalist", { id: `values-${i}` }));
}

function offerValues(one, i) { // also those that were learned meanwhile
  const list = $(`values-${i}`);
  if (list && list.childElementCount !== one.values.length) {
    list.replaceChildren(...one.values.map((value) => make("option", { value })));
  }
}

function readContext() {
  const text = $("context");
  if (text && text.dataset.kind === "json") return readJson(text.value);
  if (text) return text.value.split(/[\s,;]+/).filter(Boolean).map((part) => {
    const value = Number(part);
    if (!Number.isFinite(value)) throw new Error(`context has ${part}, which is no number`);
    return value;
  });
  const filled = [...$("features").querySelectorAll("input, select")].filter((one) => one.value.trim() !== "");
  return Object.fromEntries(filled.map((one) => [one.dataset.name, readField(one)]));
}

function readField(one) {
  if (one.dataset.kind === "number") return Number(one.value);
  if (one.dataset.kind === "category") return one.value;
  return one.value.split(",").map((part) => part.trim()).filter(Boolean); // "," alone is the empty set
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch (why_not) {
    throw new Error(`context is no JSON: ${why_not.message}`);
  }
}

function say(text, kind) { $("answer").append(make("p", { class: kind }, text)); }

async function decide(event) {
  event.preventDefault();
  try {
    const slots = $("slots").value === "" ? null : Number($("slots").value);
    const decision = await ask("/rank", { context: readContext(), slots });
    $("answer").replaceChildren();
    showDecision(decision);
  } catch (why_not) {
    $("answer").replaceChildren();
    say(why_not.message, "problem");
  }
  look();
}

function showDecision(decision) {
  if (!decision.slate.length) say("Nothing is worth showing here.", "small");
  const rows = decision.slate.map((one) => {
    const name = make("button", { type: "button", class: "name", "aria-pressed": "false" }, String(one.label));
    name.addEventListener("click", () =>
      name.setAttribute("aria-pressed", String(name.getAttribute("aria-pressed") !== "true")));
    return row(one, name);
  });
  const send = make("button", { type: "button", class: "primary", id: "send" }, "Send what was clicked");
  send.addEventListener("click", () => sendFeedback(decision, send));
  $("answer").append(make("ul", { class: "slate" }, ...rows), send);
}

async function sendFeedback(decision, send) {
  const buttons = [...$("answer").querySelectorAll(".slate button")];
  const clicked = decision.slate.filter((_, i) => buttons[i].getAttribute("aria-pressed") === "true");
  try {
    await ask("/feedback", { id: decision.id, clicked: clicked.map((one) => one.label) });
    for (const one of [...buttons, send]) one.disabled = true;
    say(clicked.length ? "Thank you, it is learned." : "Nothing clicked: that is learned, too.", "good");
  } catch (why_not) {
    say(why_not.message, "problem");
  }
  look();
}

// -- live -----------------------------------------------------------------------------------------

let looking = false;
async function look() {
  if (looking) return;
  looking = true;
  try {
    draw(await ask("/state"));
  } catch (why_not) {
    health(false, why_not instanceof TypeError ? "the service does not answer" : why_not.message);
  }
  looking = false;
}

$("ask").addEventListener("submit", decide);
$("key-box").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem("semibandit-key", $("key").value);
  $("key-box").hidden = true;
  look();
});
setInterval(() => { if (!document.hidden) look(); }, every);
look();
