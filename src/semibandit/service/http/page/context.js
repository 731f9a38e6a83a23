// A context: fields for its features, what was typed into them, and an example.

import { $, make } from "./dom.js";

const FEW = 24; // features up to which each has a field of its own
let built = null; // what the form was built for

export function buildFields(state) {
  const features = state.features;
  const now = JSON.stringify([features && features.map((one) => [one.name, one.kind, one.open]), state.n_features]);
  if (built !== now) $("features").replaceChildren(...fields(features, state.n_features));
  built = now; // what was typed stays while values are learned
  if (features) features.forEach(offerValues);
}

function fields(features, size) {
  if (features && features.length <= FEW && features[0].kind !== "hashed") return features.map(field);
  const common = { id: "context", spellcheck: "false", autocomplete: "off" };
  if (features) {
    const text = make("textarea", { ...common, rows: 4, "data-kind": "json" }, JSON.stringify(example(features, size)));
    return [make("label", { class: "whole" }, "The visit: {name: value} as JSON; what is left out is unknown", text)];
  }
  const value = example(features, size).join(", ");
  return [make("label", { class: "whole" }, `The visit: ${size} numbers`, make("input", { ...common, value }))];
}

export function example(features, size) {
  if (!features) return Array.from({ length: size }, (_, i) => (i ? 0 : 1));
  if (features[0].kind === "hashed") return { device: "phone", price: 9.5, tags: ["new", "sale"] };
  const value = { number: () => 1, category: (one) => one.values[0] ?? "any", set: (one) => one.values.slice(0, 2) };
  return Object.fromEntries(features.slice(0, 3).map((one) => [one.name, value[one.kind](one)]));
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

export function readContext() {
  const text = $("context");
  if (text && text.dataset.kind === "json") return readJson(text.value);
  if (text) return text.value.split(/[\s,;]+/).filter(Boolean).map(readNumber);
  const filled = [...$("features").querySelectorAll("input, select")].filter((one) => one.value.trim() !== "");
  return Object.fromEntries(filled.map((one) => [one.dataset.name, readField(one)]));
}

function readNumber(part) {
  const value = Number(part);
  if (!Number.isFinite(value)) throw new Error(`the visit has ${part}, which is no number`);
  return value;
}

function readField(one) {
  if (one.dataset.kind === "number") return Number(one.value);
  if (one.dataset.kind === "category") return one.value;
  return one.value.split(",").map((part) => part.trim()).filter(Boolean); // "," alone is the empty set
}

function readJson(text) {
  try {
    return JSON.parse(text);
  } catch (why) {
    throw new Error(`the visit is no JSON: ${why.message}`);
  }
}
