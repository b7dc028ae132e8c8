// The prompt: Enter sends, Shift-Enter breaks, Esc stops; drafts survive a reload.
import { attachments } from "./attachments.js";

const form = document.getElementById("composer");
const field = document.getElementById("prompt");
const problem = document.getElementById("composer-problem");
const key = `draft:${document.body.dataset.project}:${form.dataset.session}`;
let sent = null;

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

function remember() {
  try {
    if (field.value) localStorage.setItem(key, field.value);
    else localStorage.removeItem(key);
  } catch {
    // A draft that is too large for the browser's store lives as long as the page.
  }
}

function changed() {
  autosize();
  remember();
}

export function setPrompt(text) {
  field.value = text;
  changed();
}

field.addEventListener("input", () => {
  problem.replaceChildren();
  changed();
});
field.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    form.requestSubmit();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
  if (document.querySelector("dialog[open], details.menu[open]")) return;
  document.getElementById("stop")?.click();
});

form.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.elt !== form) return;
  event.detail.parameters.delete("file");
  for (const file of attachments.all()) event.detail.parameters.append("file", JSON.stringify(file));
});

form.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt === form) sent = field.value;
});

// Only what was sent is cleared: the person may have typed on meanwhile.
form.addEventListener("htmx:afterRequest", (event) => {
  const { elt, xhr } = event.detail;
  if (elt !== form || xhr.status < 200 || xhr.status >= 400) return; // 0: the server was not reached
  problem.replaceChildren();
  if (field.value === sent) setPrompt("");
  attachments.clear();
  document.dispatchEvent(new CustomEvent("page:prompted"));
});

form.addEventListener("htmx:sendError", (event) => {
  if (event.detail.elt === form) problem.textContent = "The server cannot be reached. Your prompt is still here.";
});

if (!field.value) field.value = localStorage.getItem(key) || "";
autosize();
if (matchMedia("(pointer: fine)").matches) field.focus();
