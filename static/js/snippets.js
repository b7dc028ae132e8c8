// A snippet in the prompt: `${selection}` and `${file}` become what they name (the branch is in it already), and Tab goes
// through its places, `${1:words}`, in the order of their numbers. Loaded with the first one.
import { complain, field, form } from "./composer.js";
import { shownFile } from "./files.js";
import { composes } from "./ime.js";
import { onPage } from "./page.js";
import { root } from "./root.js";
import { selected } from "./selected.js";
import { list } from "./suggestions.js";
import { gettext, interpolate } from "./words.js";

const PIECE = /\$\{(?:(selection|file)|(\d{1,2})(?::([^}]*))?)\}/g;
const status = document.getElementById("composer-status");

let places = []; // `{start, end, words}` in the text, in their order; while there are some, Tab is theirs
let at = 0;
let known = ""; // the text that they are places of

async function context() {
  const file = shownFile();
  const { selected: inFile } = file ? await import("./beside.js") : {};
  return { file, selection: inFile?.() || selected() };
}

// The text, and its places as if it began at 0.
function filled(snippet, values) {
  const found = [];
  let text = "";
  let end = 0;
  for (const { 0: whole, index, 1: name, 2: number, 3: words = "" } of snippet.matchAll(PIECE)) {
    text += snippet.slice(end, index);
    end = index + whole.length;
    if (number) found.push({ number: Number(number) || Infinity, start: text.length, end: text.length + words.length, words });
    text += name ? values[name] : words;
  }
  found.sort((one, other) => one.number - other.number); // of the same number in the order of the text
  return { text: text + snippet.slice(end), found };
}

// In the place of what stands from `start` to `end`.
export async function insert(snippet, start = field.selectionStart, end = field.selectionEnd) {
  const { text, found } = filled(snippet, await context());
  field.focus();
  field.setSelectionRange(start, end);
  document.execCommand("insertText", false, text); // as typed, so that the browser can take it back
  places = found.map((place) => ({ ...place, start: place.start + start, end: place.end + start }));
  known = field.value;
  at = 0;
  if (places.length) show();
}

export async function insertNamed(name) {
  const query = new URLSearchParams({ q: name, project: document.body.dataset.project, session: document.body.dataset.session });
  const answer = await fetch(`${form.dataset.snippets}?${query}`).catch(() => null);
  const page = new DOMParser().parseFromString(answer?.ok ? await answer.text() : "", "text/html");
  const option = page.querySelector(`[data-insert="${CSS.escape(name)}"]`);
  if (!option) return complain(interpolate(gettext("There is no snippet ;%(name)s."), { name }));
  insert(option.dataset.snippet);
}

function show() {
  const { start, end, words } = places[at];
  field.setSelectionRange(start, end);
  const isLast = at === places.length - 1;
  const named = isLast ? gettext("Place %(place)s of %(count)s: %(words)s. Tab ends.") : gettext("Place %(place)s of %(count)s: %(words)s. Tab goes on.");
  const bare = isLast ? gettext("Place %(place)s of %(count)s. Tab ends.") : gettext("Place %(place)s of %(count)s. Tab goes on.");
  status.textContent = interpolate(words ? named : bare, { place: at + 1, count: places.length, words });
  if (isLast && start === end) leave();
}

function leave() {
  places = [];
}

function go(by) {
  at += by;
  if (places[at]) return show();
  const end = Math.max(...places.map((place) => place.end));
  leave();
  field.setSelectionRange(end, end);
  status.textContent = "";
}

// What is typed in a place belongs to it and moves those behind it; what is typed elsewhere ends it.
field.addEventListener("input", () => {
  if (!places.length || field.value === known) return;
  const { start, end } = places[at];
  const by = field.value.length - known.length;
  const isWithin = field.value.slice(0, start) === known.slice(0, start) && field.value.slice(end + by) === known.slice(end) && end + by >= start;
  known = field.value;
  if (!isWithin) return leave();
  for (const place of places) {
    if (place === places[at]) place.end += by;
    else if (place.start >= end) Object.assign(place, { start: place.start + by, end: place.end + by });
  }
});

form.addEventListener("keydown", (event) => {
  if (!places.length || field.value !== known || event.target !== field || event.defaultPrevented || composes(event) || list.isOpen()) return;
  if (event.key === "Escape") leave();
  else if (event.key === "Tab" && !(event.ctrlKey || event.altKey || event.metaKey) && (at || !event.shiftKey)) go(event.shiftKey ? -1 : 1);
  else return;
  event.preventDefault();
  event.stopPropagation();
}, { capture: true });

onPage(leave);

// Of what is written now, or what of it is selected.
export async function save() {
  const { selectionStart, selectionEnd, value } = field;
  const text = value.slice(selectionStart, selectionEnd) || value;
  await window.htmx.ajax("GET", `${root}/snippets/dialog`, { target: "#dialog", swap: "innerHTML" });
  document.querySelector(".snippet-dialog textarea").value = text;
}
