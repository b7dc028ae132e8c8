// The tree of files (ARIA, tree view): folders are loaded when they are opened, and again when something in them
// changes on the disk; marks say what git and the session make of a file.
import { get } from "./files-api.js";
import { onNews } from "./files-news.js";
import { onPage } from "./page.js";
import { addSheet } from "./sheet.js";
import { gettext, interpolate, ngettext } from "./words.js";

await addSheet("files-tree");

const list = document.getElementById("files-tree");
const panel = document.getElementById("side-files");
const problem = document.getElementById("files-problem");
const said = document.getElementById("files-said");
const WORDS = { M: gettext("modified"), A: gettext("added"), D: gettext("deleted"), U: gettext("in conflict"), T: gettext("of another kind"), "?": gettext("not tracked") };
const PAUSE = 120; // milliseconds

let loaded = false;
let query = "";
let git = {}; // path -> state; of what is not tracked also folders, with a slash
let changed = new Set(); // by the session, with the folders around
let beside; // the folders beside the project that the session has
let due = 0;

const rows = () => [...list.querySelectorAll(".files-row[data-path]")];
const seen = () => rows().filter((row) => row.offsetParent);
const group = (row) => row.querySelector(":scope > [role=group]");
const isOpen = (row) => row.getAttribute("aria-expanded") === "true";

// By its path; null for the project itself.
export const row = (path) => (path ? list.querySelector(`.files-row[data-path="${CSS.escape(path)}"]`) : null);
export const say = (words) => (said.textContent = words);
export const marked = (one) => changed.has(one.dataset.path);

function complain(words = "") {
  problem.hidden = !words;
  problem.textContent = words;
}

// What is asked for later is newer, whatever comes first.
const asked = new WeakMap();
async function rowsFor(place, values) {
  const mine = {};
  asked.set(place, mine);
  const answer = await get("tree", values);
  const text = await answer.text();
  return asked.get(place) === mine ? text : null;
}

const missed = new Set(); // folders that changed while a name was written in them
const isWritten = (place) => Boolean(place.querySelector(".files-input"));

async function fill(place, path, level) {
  const text = await rowsFor(place, { path });
  if (isWritten(place)) missed.add(path);
  if (text === null || isWritten(place)) return;
  const focused = place.contains(document.activeElement) && document.activeElement.dataset.path;
  merge(place, text);
  window.htmx.process(place);
  dress(place, level);
  if (focused && document.activeElement === document.body) select(row(focused) ?? seen()[0], true); // it went with its row
  settle();
}

// A row that is there still stays the same one: open, with the keyboard in it, being dragged.
function merge(place, text) {
  const fresh = document.createElement("template");
  fresh.innerHTML = text;
  const nodes = [...fresh.content.children];
  const wanted = new Map(nodes.map((node) => [node.dataset.path, node]));
  const stays = (child) => child.dataset.path && isAlike(child, wanted.get(child.dataset.path));
  const kept = new Map();
  for (const child of [...place.children]) {
    if (stays(child)) kept.set(child.dataset.path, child);
    else child.remove();
  }
  let at = place.firstElementChild;
  for (const node of nodes) {
    const one = kept.get(node.dataset.path) ?? node;
    if (one === at) at = at.nextElementSibling;
    else place.insertBefore(one, at);
  }
}

const isAlike = (one, other) => other && ["aria-expanded", "data-ignored"].every((name) => one.hasAttribute(name) === other.hasAttribute(name));

// Until the newest of what was asked for a place is there.
const filling = new WeakMap();
async function latest(place, path, level) {
  const mine = fill(place, path, level);
  filling.set(place, mine);
  await mine;
  if (filling.get(place) !== mine) await filling.get(place);
}

function dress(place, level) {
  for (const one of place.querySelectorAll(":scope > .files-row")) {
    one.setAttribute("aria-level", level);
    one.style.setProperty("--level", level);
    one.draggable = true;
  }
  paint(place);
}

// One row is in the order of Tab.
function settle() {
  if (!list.querySelector("[tabindex='0']")) seen()[0]?.setAttribute("tabindex", "0");
}

export function select(one, focus = false) {
  if (!one) return;
  for (const before of list.querySelectorAll("[aria-selected=true], [tabindex='0']")) {
    before.setAttribute("aria-selected", "false");
    before.tabIndex = -1;
  }
  one.setAttribute("aria-selected", "true");
  one.tabIndex = 0;
  if (focus) one.focus();
}

function stateOf(path) {
  if (git[path]) return git[path];
  for (let at = path.lastIndexOf("/"); at >= 0; at = path.lastIndexOf("/", at - 1)) {
    if (git[`${path.slice(0, at)}/`]) return "?";
    if (at === 0) break;
  }
  return git[`${path}/`] ?? "";
}

let around = new Set(); // folders in which git sees a change

function paint(place = list) {
  for (const one of place.querySelectorAll(".files-row[data-path]")) {
    const { path } = one.dataset;
    const folder = one.hasAttribute("aria-expanded");
    const state = folder && around.has(path) && !stateOf(path) ? "•" : stateOf(path);
    const mark = one.querySelector(":scope > .files-line > .files-mark");
    mark.textContent = state === "?" ? "U" : state;
    mark.title = state === "•" ? gettext("Something in it has changed") : (WORDS[state] ?? "");
    if (state) one.dataset.git = state;
    else delete one.dataset.git;
    one.toggleAttribute("data-changed", changed.has(path));
  }
}

const above = (path) => path.split("/").slice(0, -1).map((_, at, names) => names.slice(0, at + 1).join("/"));

async function mark() {
  const answer = await get("marks").catch(() => null);
  if (!answer) return;
  const told = await answer.json();
  git = told.git;
  around = new Set(Object.keys(git).flatMap((path) => above(path.replace(/\/$/, ""))));
  changed = new Set(told.session.flatMap((path) => [path, ...above(path)]));
  paint();
  const roots = told.roots.join("\0");
  if (beside !== undefined && beside !== roots) tree.renew("");
  beside = roots;
}

function markSoon() {
  clearTimeout(due);
  due = setTimeout(mark, PAUSE);
}

// A field in the place of a row, or as a new one in it; what was typed, empty for nothing.
export function ask(one, value, { inside = false } = {}) {
  const made = document.getElementById("files-field").content.cloneNode(true).firstElementChild;
  const field = inside ? made : made.firstElementChild;
  const line = inside ? null : one.firstElementChild;
  const input = made.querySelector("input");
  made.style.setProperty("--level", Number(one?.getAttribute("aria-level") ?? 0) + 1);
  if (inside) (one ? group(one) : list).prepend(made);
  else line.before(field);
  if (line) line.hidden = true;
  if (one) one.draggable = false; // what is written in it is selected by dragging
  input.value = value;
  input.focus();
  input.setSelectionRange(0, value.lastIndexOf(".") > 0 ? value.lastIndexOf(".") : value.length);
  return new Promise((resolve) => {
    let ended = false; // a field that goes loses the focus
    const end = (text, focus) => {
      if (ended) return;
      ended = true;
      field.remove();
      if (line) line.hidden = false;
      if (one) one.draggable = true;
      if (focus) select(one ?? seen()[0], true);
      resolve(text.trim());
      const due = [...missed];
      missed.clear();
      due.forEach((path) => tree.renew(path));
    };
    input.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
      event.preventDefault();
      end(event.key === "Enter" ? input.value : "", true);
    });
    input.addEventListener("blur", () => end(input.value, false));
  });
}

export const tree = {
  async show() {
    if (loaded) return markSoon();
    loaded = true;
    await this.renew("");
    mark();
  },
  async renew(path) {
    if (query) return this.filter(query);
    const one = row(path);
    if (path && (!one || !isOpen(one))) return;
    try {
      await latest(one ? group(one) : list, path, one ? Number(one.getAttribute("aria-level")) + 1 : 1);
      complain();
    } catch {
      if (!path) complain(gettext("The files cannot be read: the server cannot be reached, or the folder is gone."));
    }
    list.removeAttribute("aria-busy");
    markSoon();
  },
  // Opens a folder, or closes it; `open` says which.
  async expand(one, open = !isOpen(one)) {
    one.setAttribute("aria-expanded", String(open));
    if (!open) return group(one)?.remove();
    const place = document.createElement("ul");
    place.setAttribute("role", "group");
    one.append(place);
    await fill(place, one.dataset.path, Number(one.getAttribute("aria-level")) + 1).catch(() => this.expand(one, false));
  },
  // Opens all that is around a path and, where it is a folder, itself.
  async reveal(path) {
    const names = path ? path.split("/") : [];
    for (const at of names.keys()) {
      const one = row(names.slice(0, at + 1).join("/"));
      if (one?.hasAttribute("aria-expanded") && !isOpen(one)) await this.expand(one, true);
    }
    return row(path);
  },
  async filter(words) {
    query = words.trim();
    if (!query) {
      list.replaceChildren();
      return this.renew("");
    }
    const text = await rowsFor(list, { q: query }).catch(() => null);
    if (text === null) return;
    list.innerHTML = text;
    dress(list, 1);
    settle();
    said.textContent = interpolate(ngettext("%(count)s file", "%(count)s files", rows().length), { count: rows().length });
  },
  active: () => list.querySelector("[tabindex='0']"),
  first: () => seen()[0],
  focus() {
    (this.active() ?? seen()[0] ?? document.getElementById("files-filter")).focus();
  },
};

let typed = { text: "", at: 0 };

// To the next row whose name begins as somebody types.
function leap(from, key) {
  const now = performance.now();
  typed = { text: (now - typed.at < 700 ? typed.text : "") + key.toLowerCase(), at: now };
  const shown = seen();
  const begin = shown.indexOf(from) + (typed.text.length > 1 ? 0 : 1);
  const order = [...shown.slice(begin), ...shown.slice(0, begin)];
  select(order.find((one) => one.querySelector(".files-name").textContent.toLowerCase().startsWith(typed.text)), true);
}

list.addEventListener("keydown", (event) => {
  const one = event.target.closest?.(".files-row[data-path]");
  if (!one || event.target !== one || event.ctrlKey || event.metaKey || event.altKey) return;
  const shown = seen();
  const at = shown.indexOf(one);
  const folder = one.hasAttribute("aria-expanded");
  const parent = one.parentElement.closest(".files-row");
  const go = {
    ArrowDown: () => shown[at + 1],
    ArrowUp: () => shown[at - 1],
    Home: () => shown[0],
    End: () => shown.at(-1),
    ArrowRight: () => (folder && !isOpen(one) ? void tree.expand(one, true) : folder ? shown[at + 1] : null),
    ArrowLeft: () => (folder && isOpen(one) ? void tree.expand(one, false) : parent),
  }[event.key];
  if (go) select(go(), true);
  else if (event.key.length === 1 && event.key !== " " && event.key !== "@") leap(one, event.key);
  else return;
  event.preventDefault();
});
list.addEventListener("focusin", ({ target }) => target.matches(".files-row") && select(target));

onNews((paths) => {
  if (!loaded) return;
  const folders = new Set(paths.filter((path) => path !== ".git").map((path) => path.slice(0, Math.max(0, path.lastIndexOf("/")))));
  if (paths.includes("")) for (const one of list.querySelectorAll("[aria-expanded=true]")) folders.add(one.dataset.path);
  if (paths.includes("")) folders.add("");
  for (const root of list.querySelectorAll("[data-root][aria-expanded=true]")) {
    if (paths.includes(root.dataset.path)) for (const one of [root, ...root.querySelectorAll("[aria-expanded=true]")]) folders.add(one.dataset.path);
  }
  for (const folder of folders) if (!folder || row(folder)) tree.renew(folder);
  markSoon();
});
onPage(() => {
  if (loaded) markSoon();
});
document.addEventListener("page:changed", () => loaded && markSoon());
