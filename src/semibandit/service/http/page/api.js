// Requests to the service, by paths relative to this page: it may be served below any path.

import { $ } from "./dom.js";

const KEY = "semibandit-key";
export const key = () => sessionStorage.getItem(KEY) || "";
export const useKey = (value) => sessionStorage.setItem(KEY, value);
export const url = (path) => new URL(path, document.baseURI).href;

export async function ask(path, body, method = body === undefined ? "GET" : "POST") {
  const headers = body === undefined ? {} : { "Content-Type": "application/json" };
  if (key()) headers.Authorization = "Bearer " + key();
  let answer = { status: 0, ok: false }, said = { detail: "the service does not answer" };
  try {
    answer = await fetch(path, { method, headers, body: JSON.stringify(body) });
    said = await answer.json();
  } catch (why) {
    if (answer.ok) throw why;
    if (answer.status) said = { detail: `status ${answer.status}` }; // by something between us and the service
  }
  if (answer.status === 401) askForKey(said.detail);
  if (!answer.ok) throw Object.assign(new Error(said.detail), { status: answer.status });
  return said;
}

function askForKey(why) {
  $("key-form").hidden = false;
  $("key-note").textContent = key() ? why : "";
}

export function onKey(use) {
  $("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    useKey($("key").value);
    $("key-form").hidden = true;
    use();
  });
}
