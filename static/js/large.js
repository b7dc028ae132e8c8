// The prompt over most of the window: the same field, so that its text, its caret and what can be taken back stay. Enter
// makes a new line there, and Ctrl+Enter sends (sending.js). Loaded when it is used.
import { field, form } from "./composer.js";
import { composes } from "./ime.js";
import { onPage } from "./page.js";
import { addSheet } from "./sheet.js";
import { gettext } from "./words.js";

await addSheet("large");

const MONO = "prompt-mono";
const main = document.getElementById("main");
const button = document.querySelector("[data-large-prompt]");
const status = document.getElementById("composer-status");
const mono = Object.assign(document.createElement("button"), { type: "button", className: "quiet prompt-mono", textContent: gettext("Monospace") });
button.after(mono);

const isLarge = () => form.hasAttribute("data-large");

function set(large) {
  if (large === isLarge()) return;
  form.toggleAttribute("data-large", large);
  main.toggleAttribute("data-writes", large);
  button.setAttribute("aria-pressed", String(large));
  status.textContent = large ? gettext("Large: Enter makes a new line, Control Enter sends, Escape goes back.") : "";
  if (!large) return;
  field.focus();
}

export function toggle() {
  set(!isLarge());
  field.focus();
}

function setMono(on) {
  form.toggleAttribute("data-mono", on);
  mono.setAttribute("aria-pressed", String(on));
}
mono.addEventListener("click", () => {
  setMono(!form.hasAttribute("data-mono"));
  localStorage.setItem(MONO, form.hasAttribute("data-mono") ? "on" : "");
  field.focus();
});

form.addEventListener("submit", () => set(false));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !isLarge() || event.defaultPrevented || composes(event) || document.querySelector("dialog[open], :popover-open, details.menu[open]")) return;
  event.preventDefault();
  toggle();
});
onPage(() => {
  set(false);
  setMono(localStorage.getItem(MONO) === "on");
});
