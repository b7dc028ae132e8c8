// Paths of the project that are written in the conversation (an answer, an output, a trace) become links to the file, at the
// line that is named with them (files.js).
import { onPage } from "./page.js";
import { find, pathsIn } from "./paths.js";

const PLACES = ".markdown code, .plain-output, .tool-error";
const PAUSE = 200; // milliseconds

const done = new WeakSet();
const known = new Map(); // what is written -> the path, empty where there is no such file
let due = 0;

function textsIn(place) {
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement.closest("a, button")) found.push(walker.currentNode);
  return found;
}

async function look() {
  const places = [...document.querySelectorAll(PLACES)].filter((place) => !done.has(place) && !place.closest(".unfinished, .live, [data-busy]"));
  const wanted = new Set();
  for (const place of places) {
    done.add(place);
    for (const { data } of textsIn(place)) for (const { path } of pathsIn(data)) if (!known.has(path)) wanted.add(path);
  }
  const there = await find([...wanted]);
  if (!there) return places.forEach((place) => done.delete(place));
  for (const path of wanted) known.set(path, there.get(path) ?? "");
  for (const place of places) if (place.isConnected) for (const node of textsIn(place)) link(node);
}

// From the last to the first: what stands before keeps its place.
function link(node) {
  for (const { index, whole, path, line, column } of pathsIn(node.data).reverse()) {
    const file = known.get(path);
    if (!file) continue;
    const named = node.splitText(index);
    named.splitText(whole.length);
    const made = Object.assign(document.createElement("a"), { className: "file-link", href: "#", textContent: whole });
    Object.assign(made.dataset, { file, line, column });
    named.replaceWith(made);
  }
}

function soon() {
  clearTimeout(due);
  due = setTimeout(look, PAUSE);
}

for (const name of ["page:changed", "page:replaced", "htmx:afterSwap"]) document.addEventListener(name, soon);
onPage(() => {
  known.clear(); // another session has other folders beside the project
  soon();
});
