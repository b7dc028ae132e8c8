// Paths of the project that are written in the conversation (an answer, an output, a trace) become links to the file, at the
// line that is named with them (files.js). The server says which are there.
import { post } from "./files-api.js";
import { onPage } from "./page.js";

const PLACES = ".markdown code, .plain-output, .tool-error";
// `a/b.py`, `a/b.py:12:3`, `a/b.py#L12`, `a/b.py(12,3)`; of Python's traces `"a/b.py", line 12`
const PATH = /(?<![\w/.~@-])((?:\.{0,2}\/)?(?:[\w@+-][\w@+.-]*\/)*[\w@+-][\w@+.-]*\.[A-Za-z]\w{0,9}|(?:[\w@+.-]+\/)+[\w@+.-]+)(?:"?, line (\d+)|[:#(]L?(\d+)(?:[:,](\d+))?)?/g;
const MOST = 60; // in one text
const LONGEST = 20_000; // characters of one text
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

function namesIn(text) {
  return text.length > LONGEST ? [] : [...text.matchAll(PATH)].slice(0, MOST);
}

async function look() {
  const places = [...document.querySelectorAll(PLACES)].filter((place) => !done.has(place) && !place.closest(".unfinished, .live, [data-busy]"));
  const wanted = new Set();
  for (const place of places) {
    done.add(place);
    for (const { data } of textsIn(place)) for (const [, path] of namesIn(data)) if (!known.has(path)) wanted.add(path);
  }
  if (wanted.size && !(await ask([...wanted]))) return places.forEach((place) => done.delete(place));
  for (const place of places) if (place.isConnected) for (const node of textsIn(place)) link(node);
}

async function ask(paths) {
  for (let at = 0; at < paths.length; at += 200) {
    const part = paths.slice(at, at + 200);
    const answer = await post("known", { path: part }).catch(() => null);
    if (!answer?.ok) return false;
    const found = await answer.json();
    for (const path of part) known.set(path, found[path] ?? "");
  }
  return true;
}

// From the last to the first: what stands before keeps its place.
function link(node) {
  for (const match of namesIn(node.data).reverse()) {
    const [whole, path, traced, line, column] = match;
    const file = known.get(path);
    if (!file) continue;
    const named = node.splitText(match.index);
    named.splitText(whole.length);
    const made = Object.assign(document.createElement("a"), { className: "file-link", href: "#", textContent: whole });
    Object.assign(made.dataset, { file, line: traced ?? line ?? "", column: column ?? "" });
    named.replaceWith(made);
  }
}

function soon() {
  clearTimeout(due);
  due = setTimeout(look, PAUSE);
}

for (const name of ["page:changed", "page:replaced", "htmx:afterSwap"]) document.addEventListener(name, soon);
onPage(soon);
