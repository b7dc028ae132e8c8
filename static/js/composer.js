// The prompt's field: it grows with its text, and drafts survive a reload. Its keys stop the running turn.
import { onPage, owner } from "./page.js";
import { shortcut } from "./shortcuts.js";
import { gettext } from "./words.js";

export const form = document.getElementById("composer");
export const field = document.getElementById("prompt");
export const problem = document.getElementById("composer-problem");
const status = document.getElementById("composer-status");

// Whose draft it is.
export const place = () => `${document.body.dataset.project}:${owner()}`;
const drafts = { draft: "", edit: "" };
let slot = "draft";

const MOST_LINES = 12;
const SURELY_MORE = 5_000; // characters that fill all lines of any screen: measuring megabytes takes seconds

const MUCH = 500_000; // characters of which no line is broken: in one long word that takes minutes

function autosize() {
  field.toggleAttribute("data-much", field.value.length > MUCH);
  field.rows = field.value.length > SURELY_MORE ? MOST_LINES : Math.min(MOST_LINES, measured());
}

function measured() {
  field.classList.add("measuring");
  const lines = Math.round((field.scrollHeight - 20) / 24);
  field.classList.remove("measuring");
  return Math.max(1, lines);
}

export function read(name) {
  return localStorage.getItem(`${name}:${place()}`) || "";
}

// Whether there is room for it.
export function keep(name, text) {
  try {
    if (text) localStorage.setItem(`${name}:${place()}`, text);
    else localStorage.removeItem(`${name}:${place()}`);
    return true;
  } catch {
    return false;
  }
}

const joined = (...texts) => texts.filter(Boolean).join("\n\n");

function changed() {
  autosize();
  drafts[slot] = field.value;
  keep("edit", drafts.edit);
  if (keep("draft", drafts.draft)) keep("draft-at", String(Date.now()));
  document.dispatchEvent(new Event("draft:written"));
}

// What did not arrive stands in front of what was written meanwhile.
export function putBack(...texts) {
  setDraft(joined(...texts, drafts.draft));
}

export const draft = () => drafts.draft;

export function setDraft(text) {
  drafts.draft = text;
  if (slot === "draft") field.value = text;
  changed();
}

export function setPrompt(text) {
  field.value = text;
  changed();
}

// After what stands there, apart from it.
export function add(text) {
  const before = field.value;
  setPrompt(`${before}${before && !/\s$/.test(before) ? " " : ""}${text}`);
  field.focus();
}

// Two texts can be in the making: the `draft` of a new prompt, and the `edit` of one that waits.
export function show(name) {
  slot = name;
  field.value = drafts[name];
  autosize();
}

export function complain(text) {
  const line = document.createElement("p");
  line.className = "problem";
  line.textContent = text;
  problem.replaceChildren(line);
}

field.addEventListener("input", () => {
  problem.replaceChildren();
  changed();
});

// Escape once is how the text is left by keyboard (then Tab), and how what is open is closed: that must not stop anything.
const OPEN = "dialog[open], details.menu[open], :popover-open, #layout:is([data-drawer], [data-wide]), #composer[data-large]";
shortcut("stop", () => document.getElementById("stop")?.click(), { within: () => !document.querySelector(OPEN), waits: arm });

function arm(value) {
  const stop = document.getElementById("stop");
  stop?.toggleAttribute("data-armed", value);
  if (stop && value) status.textContent = gettext("Once more stops the turn.");
}

// As typed, so that the browser can take it back.
shortcut("new-line", () => document.execCommand("insertText", false, "\n"), { within: (element) => element === field, typing: true });

const restored = field.value; // by the browser, which loaded the page again: newer than the draft
onPage((goesOn) => {
  if (!goesOn) Object.assign(drafts, { draft: read("draft"), edit: read("edit") });
  problem.replaceChildren();
  status.textContent = "";
  arm(false);
  show("draft");
  if (matchMedia("(pointer: fine)").matches) field.focus();
});
if (restored) setPrompt(restored);
document.addEventListener("page:becomes", () => {
  for (const name of ["draft", "draft-at", "attached", "edit", "outbox"]) localStorage.removeItem(`${name}:${document.body.dataset.project}:new`);
  changed();
});
