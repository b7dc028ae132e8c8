// Several sessions of the list at once: those whose box is ticked, which belong to the form of the bar. Loaded when the
// first is chosen.
import { onPage } from "./page.js";
import { link, rows } from "./session-list.js";
import { interpolate, ngettext } from "./words.js";

const side = document.getElementById("side-sessions");
const bar = document.getElementById("chosen");
const count = document.getElementById("chosen-count");
const chosen = new Set(); // ids
let anchor = ""; // the one from which a range is chosen

const box = (item) => item.querySelector(".session-box");
const listed = () => rows().filter(box);
const current = () => listed().find((item) => link(item).getAttribute("aria-current"));

// One, or with `range` all to it from the one that was chosen last, or else from `first`.
export function choose(item, range = false, first = current()) {
  const items = listed();
  const start = items.findIndex((other) => box(other).value === anchor);
  const from = start < 0 ? items.indexOf(first) : start;
  const to = items.indexOf(item);
  if (range && from >= 0) for (const other of items.slice(Math.min(from, to), Math.max(from, to) + 1)) chosen.add(box(other).value);
  else set(box(item).value, !chosen.has(box(item).value));
  show();
}

function set(id, on) {
  anchor = id;
  if (on) chosen.add(id);
  else chosen.delete(id);
}

// As far as they are in the list.
function show() {
  const ids = new Set(listed().map((item) => box(item).value));
  for (const id of chosen) if (!ids.has(id)) chosen.delete(id);
  for (const item of listed()) box(item).checked = chosen.has(box(item).value);
  if (!chosen.size) anchor = "";
  side.toggleAttribute("data-choosing", chosen.size > 0);
  if (chosen.size) count.textContent = interpolate(ngettext("%(count)s chosen", "%(count)s chosen", chosen.size), { count: chosen.size });
  if (!chosen.size && bar.contains(document.activeElement)) (current() ?? listed()[0])?.querySelector("a").focus();
  bar.hidden = !chosen.size;
}

function end() {
  chosen.clear();
  show();
}

side.addEventListener("click", (event) => {
  const item = event.target.matches(".session-box") && event.target.closest(".session-item");
  if (item && event.shiftKey) choose(item, true);
});
side.addEventListener("change", ({ target }) => {
  if (!target.matches(".session-box")) return;
  set(target.value, target.checked);
  show();
});
side.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !chosen.size || event.defaultPrevented || event.target.matches("input[type=search]")) return;
  event.preventDefault();
  const held = document.activeElement.closest(".session-item");
  end();
  if (held) link(held).focus();
});
document.getElementById("chosen-end").addEventListener("click", end);
bar.addEventListener("submit", (event) => event.preventDefault());
bar.addEventListener("htmx:afterRequest", ({ detail }) => detail.successful && detail.requestConfig.verb === "post" && end());
document.addEventListener("htmx:afterSwap", ({ target }) => target.id === "session-list" && show());
for (const name of ["page:changed", "page:replaced"]) document.addEventListener(name, show);
onPage(show);
