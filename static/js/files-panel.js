// What is done to files in the tree, by keys, menu and drop. Loaded when the tree is shown first.
import { open as openFile } from "./beside.js";
import { add } from "./composer.js";
import { act, address, note } from "./files-api.js";
import { listen } from "./files-news.js";
import { ask, marked, row as rowOf, say, select, tree } from "./files-tree.js";
import { openMenu } from "./popup-menu.js";
import { gettext, interpolate } from "./words.js";

const panel = document.getElementById("side-files");
const menu = document.getElementById("files-menu");
const picker = document.getElementById("files-upload");
const filter = document.getElementById("files-filter");

let about = null; // the row that the menu is about
const parentOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1);
const within = (folder, name) => (folder ? `${folder}/${name}` : name);
const isFolder = (row) => row.hasAttribute("aria-expanded");
const folderOf = (row) => (!row ? "" : isFolder(row) ? row.dataset.path : parentOf(row.dataset.path));

// Until it is there, with what was typed before it was.
export async function show() {
  listen();
  await tree.show();
  if (filter.value) await tree.filter(filter.value);
}

export const focus = () => tree.focus();

const mentionOf = (row) => `@${row.dataset.path}${isFolder(row) ? "/" : ""} `;

const DO = {
  open: (row) => (isFolder(row) ? tree.expand(row) : openFile(row.dataset.path)),
  mention: (row) => add(mentionOf(row)),
  pin: async (row) => (await import("./pins.js")).pinFile(row.dataset.path),
  review: (row) => press({ reviewFile: row.dataset.path }),
  path: (row) => navigator.clipboard.writeText(row.dataset.path),
  "open-in": async (row) => (await import("./open-in.js")).openIn({ path: row.dataset.path }),
  make: (row) => make(row, {}),
  "make-folder": (row) => make(row, { folder: "1" }),
  upload: (row) => {
    picker.dataset.folder = folderOf(row);
    picker.click();
  },
  rename: async (row) => {
    const path = row.dataset.path;
    const name = await ask(row, nameOf(path));
    if (name && name !== nameOf(path)) await change("move", { path, to: within(parentOf(path), name) }, parentOf(path));
  },
  copy: (row) => change("copy", { path: row.dataset.path }, parentOf(row.dataset.path)),
  remove: (row) => change("remove", { path: row.dataset.path }, parentOf(row.dataset.path)),
  ignored: () => {
    const shown = panel.toggleAttribute("data-ignored-shown");
    panel.querySelector("[data-files-do=ignored]").setAttribute("aria-pressed", String(shown));
  },
};

// As a button of the page that has these data.
function press(data) {
  const button = Object.assign(document.createElement("button"), { hidden: true });
  Object.assign(button.dataset, data);
  document.body.append(button);
  button.click();
  button.remove();
}

async function change(what, values, folder, then = "") {
  if (await act(what, values)) await tree.renew(folder);
  if (then) select(rowOf(then), true);
}

// In the folder of the row, or that the row is.
async function make(row, values) {
  const folder = folderOf(row);
  await tree.reveal(folder);
  const name = await ask(rowOf(folder), "", { inside: true });
  if (!name) return;
  const path = within(folder, name);
  await change("make", { path, ...values }, folder, path);
  if (!values.folder) openFile(path);
}

function run(name, row) {
  if (row) select(row, true);
  DO[name]?.(row);
}

function offer(row, at) {
  about = row;
  select(row);
  const root = row.closest("[data-root]");
  for (const item of menu.querySelectorAll("[data-for], [data-writes]")) {
    const { for: kind, writes } = item.dataset;
    const fits = !kind || (kind === "changed" ? marked(row) : (kind === "folder") === isFolder(row));
    item.hidden = !fits || Boolean(writes && root && (root.dataset.root === "read-only" || (root === row && writes === "it")));
  }
  menu.querySelector("[data-files-do=download]").href = address("raw", { path: row.dataset.path, download: 1 });
  openMenu(menu, at, () => (about.isConnected ? about : null));
}

menu.addEventListener("click", (event) => {
  const item = event.target.closest("[data-files-do]");
  if (item) run(item.dataset.filesDo, about);
});

panel.addEventListener("click", (event) => {
  const button = event.target.closest("[data-files-do]");
  if (button) return run(button.dataset.filesDo, button.dataset.filesDo === "make" ? tree.active() : null);
  const row = event.target.closest(".files-row[data-path]");
  if (!row || event.target.closest("input")) return;
  select(row, true);
  DO.open(row);
});
panel.addEventListener("contextmenu", (event) => {
  const row = event.target.closest(".files-row[data-path]");
  if (!row || event.target.closest("input")) return;
  event.preventDefault();
  const { left, bottom } = row.firstElementChild.getBoundingClientRect();
  offer(row, { x: event.clientX || left + 24, y: event.clientY || bottom });
});

const KEYS = { Enter: "open", F2: "rename", Delete: "remove", "@": "mention" };
panel.addEventListener("keydown", (event) => {
  const row = event.target.closest?.(".files-row[data-path]");
  if (!row || event.target !== row || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  run(KEYS[event.key], row);
});

// Into a folder, of which the server says where it cannot be.
async function put(path, folder, what) {
  const to = within(folder, nameOf(path));
  if (what === "move" && to === path) return note(interpolate(gettext("%(name)s is there already."), { name: nameOf(path) }));
  await tree.reveal(folder);
  await change(what, { path, ...(what === "move" ? { to } : { into: folder || "." }) }, folder, what === "move" ? to : "");
  if (what === "move") await tree.renew(parentOf(path));
}

let held = null; // what was cut or copied: its path, and what is done with it

function hold(row, what) {
  panel.querySelector("[data-cut]")?.removeAttribute("data-cut");
  row.toggleAttribute("data-cut", what === "move");
  held = { path: row.dataset.path, what };
  const told = what === "move" ? gettext("Cut %(name)s: paste it at a folder.") : gettext("Copied %(name)s: paste it at a folder.");
  say(interpolate(told, { name: nameOf(held.path) }));
}

function paste(row) {
  if (!held) return;
  put(held.path, folderOf(row), held.what);
  if (held.what === "move") held = null;
}

// As the browser's own keys for it say.
const HOLDS = { cut: (row) => hold(row, "move"), copy: (row) => hold(row, "copy"), paste };
for (const name of Object.keys(HOLDS)) {
  panel.addEventListener(name, (event) => {
    const row = document.activeElement.closest(".files-row[data-path]");
    if (row !== document.activeElement || !getSelection().isCollapsed) return;
    event.preventDefault();
    if (name !== "paste") event.clipboardData.setData("text/plain", row.dataset.path);
    HOLDS[name](row);
  });
}

// Dropped on a folder, or beside a file: what comes from elsewhere is uploaded, what is in the tree moves, with Ctrl a copy of it.
const MOVED = "application/x-project-path";
const MENTION = "application/x-opencode-path"; // for the conversation (attachments.js)
const dropped = (event) => [...(event.dataTransfer?.files ?? [])];
panel.addEventListener("dragstart", (event) => {
  const row = event.target.closest?.(".files-row[data-path]");
  if (!row) return;
  event.dataTransfer.setData(MOVED, row.dataset.path);
  for (const type of [MENTION, "text/plain"]) event.dataTransfer.setData(type, mentionOf(row)); // for elsewhere
  event.dataTransfer.effectAllowed = "copyMove";
});
panel.addEventListener("dragover", (event) => {
  const types = event.dataTransfer?.types ?? [];
  if (!types.includes("Files") && !types.includes(MOVED)) return;
  event.preventDefault();
  if (types.includes(MOVED)) event.dataTransfer.dropEffect = event.ctrlKey || event.altKey ? "copy" : "move";
  panel.querySelector("[data-over]")?.removeAttribute("data-over");
  event.target.closest(".files-row[data-path]")?.setAttribute("data-over", "");
});
panel.addEventListener("dragleave", () => panel.querySelector("[data-over]")?.removeAttribute("data-over"));
panel.addEventListener("drop", (event) => {
  const path = event.dataTransfer?.getData(MOVED);
  if (!path && !dropped(event).length) return;
  event.preventDefault();
  event.stopPropagation();
  panel.querySelector("[data-over]")?.removeAttribute("data-over");
  const folder = folderOf(event.target.closest(".files-row[data-path]"));
  if (path) put(path, folder, event.ctrlKey || event.altKey ? "copy" : "move");
  else upload(folder, dropped(event));
});
picker.addEventListener("change", () => {
  upload(picker.dataset.folder, [...picker.files]);
  picker.value = "";
});
const upload = (path, file) => change("upload", { path, file }, path);

filter.addEventListener("input", () => tree.filter(filter.value));
filter.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") tree.focus();
  else if (event.key === "Enter") tree.first() && DO.open(tree.first());
  else return;
  event.preventDefault();
});
