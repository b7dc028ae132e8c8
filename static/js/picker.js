// The popover that chooses model, variant, agent and how much is asked: its keys, a button beside the prompt, or the event `picker:open`
// with `{kind}`. Typing filters, the arrow keys move, Enter chooses.
import { choose, context } from "./choice.js";
import { favourites, recents, toggle, use } from "./favourites.js";
import { composes } from "./ime.js";
import { activate, active, step } from "./options.js";
import { root } from "./root.js";
import { dress } from "./sheet.js";
import { isPressed, shortcut } from "./shortcuts.js";
import { gettext, interpolate } from "./words.js";

const box = document.getElementById("picker");
const composer = document.getElementById("composer");
const search = document.getElementById("picker-search");
const lists = document.getElementById("picker-lists");
const nothing = document.getElementById("picker-nothing");
const said = document.getElementById("picker-said");
const WORDS = { model: gettext("Search models"), variant: gettext("Search variants"), agent: gettext("Search agents"), preset: gettext("Search") };
let kind = "model";
let opener = ""; // the id of what has the focus afterwards; the buttons are made anew with each choice

const isOpen = () => box.matches(":popover-open");
const list = () => document.getElementById(`picker-${kind}`);
const shown = () => [...(list()?.querySelectorAll("[role=option]:not([hidden])") ?? [])];

export function open(wanted = "model") {
  kind = wanted;
  if (isOpen()) show();
  else box.showPopover();
}

function place() {
  dress(box, "picker");
  opener = document.activeElement?.id || "prompt";
  const { left, top, width } = composer.getBoundingClientRect();
  box.style.setProperty("--picker-left", `${left}px`);
  box.style.setProperty("--picker-bottom", `${innerHeight - top + 8}px`);
  box.style.setProperty("--picker-width", `${width}px`);
}

async function begin() {
  search.value = "";
  lists.replaceChildren();
  show();
  const values = { ...context(), favourite: favourites(), recent: recents() };
  await window.htmx.ajax("GET", `${root}/pickers/options`, { source: box, target: lists, swap: "innerHTML", values });
  show();
}

function show() {
  for (const button of box.querySelectorAll("[data-kind]")) {
    button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
    button.hidden = lists.childElementCount > 0 && !document.getElementById(`picker-${button.dataset.kind}`);
  }
  for (const other of lists.children) other.hidden = other !== list();
  for (const words of box.querySelectorAll("[data-when]")) words.hidden = words.dataset.when !== kind;
  search.placeholder = WORDS[kind];
  search.setAttribute("aria-controls", `picker-${kind}`);
  search.focus();
  filter();
}

// A model that is among the favourites or the recent ones stands twice in the whole list, not in what was found.
function filter() {
  const wanted = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = new Set();
  for (const option of list()?.querySelectorAll("[role=option]") ?? []) {
    const { text, value } = option.dataset;
    option.hidden = !wanted.every((word) => text.includes(word)) || (wanted.length > 0 && found.has(value));
    if (!option.hidden) found.add(value);
  }
  for (const group of list()?.querySelectorAll("[role=group]") ?? []) group.hidden = !group.querySelector("[role=option]:not([hidden])");
  const options = shown();
  nothing.hidden = options.length > 0 || !list();
  nothing.textContent = interpolate(gettext("Nothing is called “%(value)s”."), { value: search.value });
  activate(search, list(), wanted.length ? options[0] : (list()?.querySelector("[aria-selected=true]") ?? options[0]));
}

async function pick(option) {
  if (!option) return;
  if (kind === "model") use(option.dataset.value);
  const done = choose(kind, option.dataset.value);
  box.hidePopover();
  await done;
  if (document.activeElement === document.body) document.getElementById(opener)?.focus();
}

function mark(option) {
  if (!option || kind !== "model") return;
  const marked = toggle(option.dataset.value);
  for (const same of list().querySelectorAll(`[data-value="${CSS.escape(option.dataset.value)}"]`)) {
    same.toggleAttribute("data-favourite", marked);
    same.querySelector("[data-words]").textContent = marked ? gettext("favourite") : "";
  }
  said.textContent = marked ? gettext("A favourite") : gettext("No favourite any more");
}

const move = (by) => step(search, list(), shown(), by);
const KEYS = { ArrowDown: () => move(1), ArrowUp: () => move(-1), Enter: () => pick(active(list())) };

search.addEventListener("keydown", (event) => {
  if (composes(event)) return;
  const star = isPressed("favourite", event);
  if (!star && !KEYS[event.key]) return;
  event.preventDefault();
  if (star) mark(active(list()));
  else KEYS[event.key]();
});
search.addEventListener("input", filter);
lists.addEventListener("click", (event) => {
  const option = event.target.closest("[role=option]");
  if (event.target.closest("[data-star]")) mark(option);
  else pick(option);
});
// The field keeps the focus, and with it the keys.
lists.addEventListener("pointerdown", (event) => event.pointerType === "mouse" && event.preventDefault());

box.addEventListener("beforetoggle", (event) => event.newState === "open" && place());
box.addEventListener("toggle", (event) => event.newState === "open" && begin());
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-picker], #picker [data-kind]");
  if (!button) return;
  const wanted = button.dataset.picker ?? button.dataset.kind;
  const switches = isOpen() && wanted !== kind;
  kind = wanted;
  if (!switches) return;
  event.preventDefault(); // else the button would close what it is to change
  show();
});
document.addEventListener("picker:open", ({ detail }) => open(detail?.kind));
shortcut("models", () => (isOpen() ? box.hidePopover() : open()));
