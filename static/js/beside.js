// What is beside the conversation: the changes, and the files that were opened, each with a tab. They stay open over
// sessions of the project, and over a reload; what is not saved yet stays with them.
import { add } from "./composer.js";
import { address } from "./files-api.js";
import { listen, onNews } from "./files-news.js";
import { isStill } from "./focus.js";
import { showBeside } from "./layout.js";
import { mentions } from "./mentions.js";
import { addSheet } from "./sheet.js";
import { gettext, interpolate } from "./words.js";

addSheet("opened");

const beside = document.getElementById("beside");
const tabs = document.getElementById("beside-tabs");
const owner = document.getElementById("beside-list");
const place = document.getElementById("opened-files");
const changes = document.getElementById("beside-review");
const KEPT = `opened:${document.body.dataset.project}`;

const entries = []; // { path, tab, section, editor }
let shown = null; // null: the changes

const nameOf = (path) => path.slice(path.lastIndexOf("/") + 1);
const at = (path) => entries.find((entry) => entry.path === path);
const tabOf = (entry) => (entry ? entry.tab.querySelector("[role=tab]") : changes);

function keep() {
  const kept = { paths: entries.map(({ path }) => path), shown: shown?.path ?? "" };
  if (entries.length) localStorage.setItem(KEPT, JSON.stringify(kept));
  else localStorage.removeItem(KEPT);
  document.documentElement.classList.toggle("files-opened", entries.length > 0);
  document.dispatchEvent(new CustomEvent("beside:changed"));
}

function enter(path) {
  const tab = document.getElementById("beside-tab").content.cloneNode(true).firstElementChild;
  const entry = { path, tab, section: null, editor: null };
  const name = tab.querySelector("[role=tab]");
  name.id = `opened-tab-${crypto.randomUUID()}`;
  name.textContent = nameOf(path);
  name.title = path;
  name.setAttribute("aria-keyshortcuts", "Delete");
  tab.querySelector(".beside-close").setAttribute("aria-label", interpolate(gettext("Close %(path)s"), { path: nameOf(path) }));
  tab.addEventListener("click", (event) => (event.target.closest(".beside-close") ? close(entry) : select(entry, { focus: true })));
  tab.addEventListener("auxclick", (event) => event.button === 1 && close(entry));
  entries.push(entry);
  tabs.append(tab);
  owner.setAttribute("aria-owns", ["beside-review", ...entries.map((each) => tabOf(each).id)].join(" "));
  return entry;
}

async function select(entry, { line = 0, column = 1, focus = false } = {}) {
  shown = entry;
  beside.toggleAttribute("data-file", Boolean(entry));
  for (const each of [null, ...entries]) {
    const tab = tabOf(each);
    tab.setAttribute("aria-selected", String(each === entry));
    tab.tabIndex = each === entry ? 0 : -1;
    if (each?.section) each.section.hidden = each !== entry;
  }
  tabOf(entry).scrollIntoView({ block: "nearest", inline: "nearest" });
  keep();
  if (!entry) return;
  listen();
  const from = document.activeElement;
  if (!entry.section) await load(entry);
  if (line) entry.editor?.go(line, column);
  if (focus && (isStill(from) || cameAnew(from))) (entry.editor ?? entry.section?.querySelector(".opened-path"))?.focus();
}

// A row of the tree may have come anew meanwhile, and has the keyboard that it had before.
function cameAnew({ isConnected, dataset: { path } }) {
  return !isConnected && path !== undefined && path === document.activeElement.dataset.path;
}

async function fetched(entry, values = {}) {
  const answer = await fetch(address("view", { path: entry.path, ...values }));
  if (!answer.ok) throw new Error(answer.status);
  return new DOMParser().parseFromString(await answer.text(), "text/html").body.firstElementChild;
}

async function load(entry, values = {}) {
  entry.loading ??= show(entry, values).finally(() => delete entry.loading);
  return entry.loading;
}

async function show(entry, values) {
  let section = null;
  try {
    section = document.adoptNode(await fetched(entry, values));
  } catch {
    section = Object.assign(document.createElement("section"), { className: "opened", textContent: gettext("The server cannot be reached.") });
  }
  entry.editor?.end();
  entry.editor = null;
  entry.section?.remove();
  entry.section = section;
  section.hidden = shown !== entry;
  section.id = `${tabOf(entry).id}-panel`;
  section.setAttribute("role", "tabpanel");
  section.setAttribute("aria-labelledby", tabOf(entry).id);
  tabOf(entry).setAttribute("aria-controls", section.id);
  place.append(section);
  if (section.dataset.kind !== "text") return;
  try {
    const { edit } = await import("./editor.js");
    entry.editor = await edit(section, { open, unsaved: (is) => entry.tab.toggleAttribute("data-unsaved", is) });
  } catch (error) {
    section.querySelector(".opened-text").hidden = false;
    section.querySelector(".opened-problem").textContent = gettext("The editor could not be loaded: it can be read only.");
    throw error;
  }
}

// What changed on the disk: text that nobody has edited is shown as it is now, else the editor says so.
async function renew(entry) {
  if (!entry.section || entry.loading) return;
  const fresh = await fetched(entry).catch(() => null);
  if (!fresh || !entry.section) return;
  const same = ["kind", "seen"].every((name) => fresh.dataset[name] === entry.section.dataset[name]);
  if (same && fresh.dataset.kind === "text") return;
  if (entry.editor && fresh.dataset.kind === "text") return entry.editor.renew(fresh);
  if (entry.editor?.unsaved) return entry.editor.gone();
  await load(entry, {});
}

export async function close(entry) {
  const number = entries.indexOf(entry);
  await entry.editor?.end();
  entry.section?.remove();
  entry.tab.remove();
  entries.splice(number, 1);
  const next = shown === entry ? (entries[number] ?? entries[number - 1] ?? null) : shown;
  await select(next);
  tabOf(next).focus();
}

// A file of the project beside the conversation, at a line (from 1) where one is named.
export function open(path, how = {}) {
  showBeside();
  return select(at(path) ?? enter(path), { focus: true, ...how });
}

tabs.addEventListener("keydown", (event) => {
  const order = [null, ...entries];
  const now = order.findIndex((entry) => tabOf(entry) === event.target);
  if (now < 0) return;
  const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: order.length - 1 }[event.key];
  if (to !== undefined) {
    const entry = order[(to + order.length) % order.length];
    select(entry);
    tabOf(entry).focus();
  } else if (event.key === "Delete" && order[now]) close(order[now]);
  else return;
  event.preventDefault();
});
changes.addEventListener("click", () => select(null));
document.addEventListener("beside:front", () => shown && select(null));

place.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  const entry = entries.find(({ section }) => section?.contains(button));
  if (!entry) return;
  if (button.dataset.openedAt) load(entry, { at: button.dataset.openedAt });
  else if (button.dataset.openedMention !== undefined) mention(entry);
  else if (button.dataset.openedIn !== undefined) (await import("./open-in.js")).openIn({ path: entry.path, line: entry.editor?.lines()?.[0] });
  else if (button.dataset.openedPreview !== undefined) preview(entry, button);
});

// What is selected in the file that is shown; empty for nothing.
export const selected = () => shown?.editor?.selected() ?? "";

// The file, or the lines of it that are selected, as they are on the disk when the prompt is taken up.
function mention({ path, editor }) {
  const lines = editor?.lines();
  const words = `@${path}${lines ? `#L${lines.join("-")}` : ""}`;
  if (lines) {
    const whole = path.startsWith("/") ? path : `${place.dataset.root}/${path}`;
    const url = `file://${whole.split("/").map(encodeURIComponent).join("/")}?start=${lines[0]}&end=${lines.at(-1)}`;
    mentions.attach(words, { mime: "text/plain", url, filename: nameOf(path), source: { type: "file", path: whole } });
  }
  add(`${words} `);
}

function fill(box, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  document.dispatchEvent(new CustomEvent("page:arrives", { detail: template.content }));
  box.replaceChildren(template.content);
  document.dispatchEvent(new CustomEvent("page:grown"));
}

async function preview(entry, button) {
  const box = entry.section.querySelector(".opened-preview");
  const on = button.getAttribute("aria-pressed") !== "true";
  if (on) fill(box, await fetch(button.dataset.url).then((answer) => answer.text(), () => gettext("The server cannot be reached.")));
  button.setAttribute("aria-pressed", String(on));
  box.hidden = !on;
  entry.section.querySelector(".opened-place").hidden = on;
}

onNews((paths) => {
  for (const entry of entries) {
    const touched = paths.some((path) => !path || path === entry.path || entry.path.startsWith(`${path}/`));
    if (touched) renew(entry);
  }
});

try {
  const kept = JSON.parse(localStorage.getItem(KEPT) || "{}");
  for (const path of kept.paths ?? []) enter(path);
  if (entries.length) select(at(kept.shown) ?? null);
} catch {
  localStorage.removeItem(KEPT);
}
