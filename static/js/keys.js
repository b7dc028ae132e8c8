// The settings page of the keys: fields that listen, rows found by words or by pressing keys, and where the keyboard is
// after a change.
import { composes } from "./ime.js";
import { label, MAC } from "./key-hint.js";
import { chordOf, isModifier } from "./shortcuts.js";
import { gettext, interpolate } from "./words.js";

const filter = document.getElementById("keys-filter");
const words = document.getElementById("keys-words");
const pressed = document.getElementById("keys-pressed");
const said = document.getElementById("keys-said");
const OWN = MAC ? "Meta" : "Ctrl";
let changed = ""; // the id of the row that something is asked for

const list = () => document.getElementById("keys-list");
const physical = (way) => way.replaceAll("Mod", OWN);
const portable = (way) => way.replaceAll(OWN, "Mod"); // so that it is the same on the other kind of keyboard

function hear(field, way) {
  field.dataset.way = way;
  field.value = way && label(way);
  field.dispatchEvent(new CustomEvent("keys:heard", { bubbles: true }));
}

// A third key begins anew.
function record(field, event) {
  const before = field.dataset.way ?? "";
  const chord = portable(chordOf(event));
  hear(field, before && !before.includes(" ") ? `${before} ${chord}` : chord);
}

function leave(field) {
  hear(field, "");
  if (field.form === filter) field.blur();
  else close(field.form);
}

function close(form) {
  form.hidden = true;
  form.querySelector(".keys-problem").replaceChildren();
  const button = form.closest("li").querySelector("[data-records]");
  button.setAttribute("aria-expanded", "false");
  button.focus();
}

function open(button) {
  const form = document.getElementById(button.getAttribute("aria-controls"));
  if (!form.hidden) return close(form);
  form.hidden = false;
  button.setAttribute("aria-expanded", "true");
  const field = form.querySelector("[data-listens]");
  hear(field, "");
  field.focus();
}

document.addEventListener("keydown", (event) => {
  const field = event.target.closest?.("[data-listens]");
  if (!field || composes(event) || isModifier(event) || event.repeat) return;
  const chord = chordOf(event);
  event.stopPropagation(); // it is told of, and does nothing
  if (["Tab", "Shift+Tab"].includes(chord)) return;
  if (chord === "Enter" && field.value && field.form !== filter) return;
  event.preventDefault();
  if (chord === "Escape") leave(field);
  else if (chord === "Backspace") hear(field, "");
  else record(field, event);
}, { capture: true });
// Nothing is typed; a line break is what sends a form.
document.addEventListener("beforeinput", (event) => {
  if (event.target.closest?.("[data-listens]") && event.inputType !== "insertLineBreak") event.preventDefault();
});

function fits(row) {
  const text = `${row.textContent} ${row.closest("section").querySelector("h2").textContent}`.toLowerCase();
  const way = physical(pressed.dataset.way ?? "");
  const goes = (own) => physical(own) === way || physical(own).startsWith(`${way} `);
  return words.value.toLowerCase().split(/\s+/).every((word) => text.includes(word)) && (!way || row.dataset.keys.split("  ").some(goes));
}

function sift() {
  const rows = [...list().querySelectorAll(".keys-row")];
  for (const row of rows) row.hidden = !fits(row);
  for (const section of list().querySelectorAll("section")) section.hidden = !section.querySelector(".keys-row:not([hidden])");
  const found = rows.filter((row) => !row.hidden).length;
  document.getElementById("keys-none").hidden = found > 0;
  return found;
}

function find() {
  said.textContent = interpolate(gettext("%(count)s found"), { count: sift() });
}

// Changed elsewhere, or by two presses of which the first took the second one's button away. What is being recorded stays.
document.addEventListener("keys:changed", () => {
  if (list().querySelector(".keys-form:not([hidden])")) return;
  window.htmx.ajax("GET", location.pathname, { target: "#keys-list", swap: "outerHTML" });
});
filter.addEventListener("submit", (event) => event.preventDefault());
words.addEventListener("input", find);
pressed.addEventListener("keys:heard", find);
document.addEventListener("click", ({ target }) => {
  if (target.closest("[data-records]")) open(target.closest("[data-records]"));
  else if (target.closest("[data-leaves]")) close(target.closest("form"));
});

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.verb !== "post") return;
  changed = detail.elt.closest(".keys-row")?.id ?? "";
  const form = detail.elt.closest(".keys-form");
  if (form) Object.assign(detail.parameters, { add: form.querySelector("[data-listens]").dataset.way, own: OWN });
});
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id !== "keys-list") return;
  sift();
  if (detail.requestConfig.verb !== "post") return;
  const row = document.getElementById(changed);
  said.textContent = row ? interpolate(gettext("Saved: %(name)s"), { name: row.querySelector(".keys-does").textContent }) : gettext("Saved");
  if (row && !row.contains(document.activeElement)) row.querySelector("[data-records]").focus();
});
