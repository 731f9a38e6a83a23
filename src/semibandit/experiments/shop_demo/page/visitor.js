// Who plays: a name that the shop has not met, and what became of their lists, for as long as the tab is open.

const KEY = "semibandit-visitor";
const LETTERS = "bcdfghjkmnpqrstvwxz23456789";

function newName() {
  return "you-" + [...crypto.getRandomValues(new Uint8Array(5))].map((byte) => LETTERS[byte % LETTERS.length]).join("");
}

export class Visitor {
  constructor({ fresh = false } = {}) {
    const kept = fresh ? null : JSON.parse(sessionStorage.getItem(KEY));
    this.name = kept ? kept.name : newName();
    this.lists = kept ? kept.lists : []; // {shown, liked} of each
    this.keep();
  }

  add(shown, liked) {
    this.lists.push({ shown, liked });
    this.keep();
  }

  keep() { sessionStorage.setItem(KEY, JSON.stringify({ name: this.name, lists: this.lists })); }
}
