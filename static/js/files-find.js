// Search in the files of the project and of folders beside it, as it goes on, and what is found replaced.
import { add } from "./composer.js";
import { openFile } from "./files.js";
import { act, address, note } from "./files-api.js";
import { onNews } from "./files-news.js";
import { addSheet } from "./sheet.js";
import { gettext, interpolate } from "./words.js";

addSheet("find");

const form = document.getElementById("find-form");
const field = document.getElementById("find-text");
const list = document.getElementById("find-list");
const said = document.getElementById("find-said");
const panel = document.getElementById("side-find");
const PAUSE = 180; // milliseconds
const APART = "<!--next-->"; // between fragments
const MOST = 50; // lines that go to the prompt at once

let asking = null;
let due = 0;
let stale = false;
let searched = "";

const values = () => Object.fromEntries(new FormData(form));
const replaces = () => form.elements.replaces.checked;

async function search() {
  asking?.abort();
  const mine = (asking = new AbortController());
  panel.toggleAttribute("data-replaces", replaces());
  list.replaceChildren();
  stale = false;
  searched = field.value;
  if (!field.value) return (said.textContent = "");
  panel.setAttribute("aria-busy", "true");
  try {
    const answer = await fetch(address("find", values()), { signal: mine.signal });
    await show(answer);
    said.textContent = list.querySelector(".find-end")?.textContent ?? "";
  } catch (error) {
    if (error.name === "AbortError") return;
    list.textContent = gettext("The server cannot be reached.");
  }
  panel.removeAttribute("aria-busy");
}

// Whole fragments, as they come.
async function show({ body }) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const pieces = (rest + next.value).split(APART);
    rest = pieces.pop();
    list.insertAdjacentHTML("beforeend", pieces.join(""));
  }
}

function soon() {
  clearTimeout(due);
  due = setTimeout(search, PAUSE);
}

async function replace(files) {
  const chosen = files.filter((file) => file.querySelector("input:checked"));
  if (!chosen.length) return;
  const left = chosen.flatMap((file) => [...file.querySelectorAll("input:not(:checked)")].map(({ dataset }) => `${dataset.offset}:${file.dataset.path}`));
  const done = await act("replace", { ...values(), path: chosen.map(({ dataset }) => dataset.path), without: left });
  if (done) search();
}

// A line, or the file.
function mentionOf(place) {
  const [line] = place.dataset.findAt.split(":");
  return `@${place.closest(".find-file").dataset.path}${line && `#L${line}`} `;
}

function mentionAll() {
  const lines = [...list.querySelectorAll(".find-line")];
  if (lines.length > MOST) note(interpolate(gettext("The first %(most)s of %(count)s lines are in the prompt."), { most: MOST, count: lines.length }));
  add(lines.slice(0, MOST).map(mentionOf).join(""));
}

form.addEventListener("input", soon);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  search();
});
panel.addEventListener("click", ({ target, ctrlKey, metaKey }) => {
  const file = target.closest(".find-file");
  const place = target.closest("[data-find-at]");
  if (target.closest("[data-find-all]")) replace([...list.querySelectorAll(".find-file")]);
  else if (target.closest("[data-find-replace]")) replace([file]);
  else if (target.closest("[data-find-mention]")) mentionAll();
  else if (place && (ctrlKey || metaKey)) add(mentionOf(place));
  else if (place) {
    const [line, column] = place.dataset.findAt.split(":").map(Number);
    openFile(file.dataset.path, { line: line || 0, column: column || 1 });
  }
});
panel.addEventListener("keydown", (event) => {
  if (event.key === "@" && event.target.matches("[data-find-at]")) {
    event.preventDefault();
    return add(mentionOf(event.target));
  }
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const places = [...list.querySelectorAll("[data-find-at]")];
  if (!by || !places.length || (event.target.matches("input") && event.target !== field)) return;
  event.preventDefault();
  const at = places.indexOf(document.activeElement);
  if (at + by < 0) field.focus();
  else places[Math.min(at + by, places.length - 1)].focus();
});
onNews(() => {
  if (field.value && !stale && list.querySelector(".find-end")) {
    stale = true;
    list.querySelector(".find-end").textContent += ` ${gettext("Files have changed since.")}`;
  }
});

// With the words that were `chosen` in the page, and else with what is in the field.
export function focus(chosen) {
  if (chosen && !chosen.includes("\n") && chosen.length < 200) {
    field.value = chosen;
    field.select();
  }
  if (field.value && field.value !== searched) search();
  field.focus();
}
