// The prompt's field: it grows with its text, and drafts survive a reload. Esc stops the running turn.

export const form = document.getElementById("composer");
export const field = document.getElementById("prompt");
export const problem = document.getElementById("composer-problem");

const place = `${document.body.dataset.project}:${form.dataset.session}`;
const drafts = { draft: read("draft"), edit: read("edit") };
let slot = "draft";

const MOST_LINES = 12;
const SURELY_MORE = 5_000; // characters that fill all lines of any screen: measuring megabytes takes seconds

function autosize() {
  field.rows = field.value.length > SURELY_MORE ? MOST_LINES : Math.min(MOST_LINES, measured());
}

function measured() {
  field.classList.add("measuring");
  const lines = Math.round((field.scrollHeight - 20) / 24);
  field.classList.remove("measuring");
  return Math.max(1, lines);
}

export function read(name) {
  return localStorage.getItem(`${name}:${place}`) || "";
}

export function keep(name, text) {
  try {
    if (text) localStorage.setItem(`${name}:${place}`, text);
    else localStorage.removeItem(`${name}:${place}`);
  } catch {
    // What is too large for the browser's store lives as long as the page.
  }
}

function changed() {
  autosize();
  drafts[slot] = field.value;
  keep(slot, field.value);
}

export function setPrompt(text) {
  field.value = text;
  changed();
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

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
  if (document.querySelector("dialog[open], details.menu[open]")) return;
  document.getElementById("stop")?.click();
});

if (field.value) changed();
else show("draft");
if (matchMedia("(pointer: fine)").matches) field.focus();
