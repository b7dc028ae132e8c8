// The palette, and as such the picker of files: a key opens it, typing finds (the server says what), the arrow keys move,
// Enter does it; Enter with Ctrl or Cmd puts a file into the prompt.
import { choose, context } from "./choice.js";
import { run } from "./commands.js";
import { add, field, setPrompt } from "./composer.js";
import { openFile, shownFile } from "./files.js";
import { composes } from "./ime.js";
import { activate, active, step } from "./options.js";
import { gettext, interpolate, ngettext } from "./words.js";

const RECENT = "palette-recent";
const MOST_RECENT = 20;
const PAUSE = 50; // milliseconds
const box = document.getElementById("palette");
const search = document.getElementById("palette-search");
const list = document.getElementById("palette-list");
const said = document.getElementById("palette-said");

const shown = () => [...list.querySelectorAll("[role=option]")];

function recent() {
  try {
    const found = JSON.parse(localStorage.getItem(RECENT) || "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

const KINDS = {
  "": { label: gettext("Palette"), placeholder: gettext("Do something, or go somewhere") },
  files: { label: gettext("Open a file"), placeholder: gettext("A file, :12 a line, @ a symbol in it, # one of the project") },
};
let kind = "";

// Once it is open.
export function begin(wanted) {
  kind = wanted;
  box.setAttribute("aria-label", KINDS[kind].label);
  search.placeholder = KINDS[kind].placeholder;
  window.htmx.trigger(search, "palette:load");
}

box.addEventListener("close", () => {
  search.value = "";
  isBehind = false;
  waits = null;
  gone = "";
  list.replaceChildren();
});

// What is closed first: a dialog that is opened then is not under it, and the focus is where it was.
const ACTS = {
  run: (value) => run(value),
  go: follow,
  choose: (value) => choose(value.slice(0, value.indexOf("=")), value.slice(value.indexOf("=") + 1)),
  open: (value) => {
    const [, path, line, column] = PLACE.exec(value);
    openFile(path, { line: Number(line) || 0, column: Number(column) || 1 });
  },
  write,
  command: async (id) => (await import("./knowledge.js")).runAction(id),
  insert: async (name) => (await import("./snippets.js")).insertNamed(name),
};
const PLACE = /^(.*?)(?::(\d+))?(?::(\d+))?$/;

function write(text) {
  if (!text.startsWith("/")) return add(text);
  setPrompt(`${text}${field.value}`);
  field.focus();
}

function pick(option, { ctrlKey = false, metaKey = false } = {}) {
  if (!option) return;
  const { id, act, value } = option.dataset;
  const mentions = act === "open" && (ctrlKey || metaKey);
  localStorage.setItem(RECENT, JSON.stringify([id, ...recent().filter((other) => other !== id)].slice(0, MOST_RECENT)));
  box.close();
  if (mentions) write(`@${PLACE.exec(value)[1]} `);
  else ACTS[act](value);
}

// As a link of the page, so that a session of the project takes the place of this one without loading.
function follow(url) {
  const link = Object.assign(document.createElement("a"), { href: url, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
}

// Whoever went to an option stays at it when the list comes anew.
let gone = "";
const move = (by) => {
  step(search, list, shown(), by);
  gone = active(list)?.dataset.id ?? "";
};
// Escape would first empty the field.
const KEYS = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Enter: (event) => (isBehind ? (waits = event) : pick(active(list), event)), Escape: () => box.close() };

search.addEventListener("keydown", (event) => {
  if (composes(event) || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key](event);
});
// A list that is of fewer letters than are written is not picked from: Enter waits for the one that comes.
let isBehind = false;
let asked = "";
let waits = null;
search.addEventListener("input", () => {
  isBehind = true;
  waits = null;
  gone = "";
  clearTimeout(due);
  due = setTimeout(ask, last + PAUSE - performance.now());
});

// The first letter at once, and then what there is now and then.
let due = 0;
let last = -PAUSE;
function ask() {
  last = performance.now();
  window.htmx.trigger(search, "palette:typed");
}
search.addEventListener("htmx:configRequest", ({ detail }) => {
  const { project, session } = context();
  asked = search.value;
  Object.assign(detail.parameters, { project, session: session ?? "", q: search.value, recent: recent(), kind, opened: shownFile() });
});
list.addEventListener("htmx:afterSwap", () => {
  const options = shown();
  const kept = options.find(({ dataset }) => dataset.id === gone);
  activate(search, list, kept ?? options[0]);
  said.textContent = interpolate(ngettext("%(count)s entry", "%(count)s entries", options.length), { count: options.length });
  if (asked !== search.value) return;
  isBehind = false;
  if (waits && (kept || !gone)) pick(active(list), waits);
  waits = null;
});
list.addEventListener("click", (event) => pick(event.target.closest("[role=option]"), event));
// The field keeps the focus, and with it the keys.
list.addEventListener("pointerdown", (event) => event.pointerType === "mouse" && event.preventDefault());
box.addEventListener("click", ({ target }) => (target === box || target.closest("[data-close]")) && box.close());
