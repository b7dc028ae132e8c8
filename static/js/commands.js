// What a built-in `/command` does, an entry of the palette, and keys: their list is the server's
// (sessions/web/shortcuts.py). Those that are not here have a module of their own.
import { complain, field, form } from "./composer.js";
import { unlessLeft } from "./escape.js";
import "./find-bar.js";
import "./help.js";
import "./inbox.js";
import { open as openPicker } from "./picker.js";
import "./problems.js";
import { root } from "./root.js";
import { dress } from "./sheet.js";
import { perform, shortcut } from "./shortcuts.js";
import { gettext } from "./words.js";

const COMMANDS = {
  new: () => document.querySelector("[data-new]").click(),
  undo: () => [...document.querySelectorAll(".message.user:not(.reverted) .undo")].at(-1)?.click(),
  redo: () => document.querySelector("[data-redo]")?.click(),
  rename: (title) => (title ? ask("POST", "rename", { swap: "none", values: { title } }) : writeTitle()),
  pin: () => ask("POST", "pin", { swap: "none" }),
  changes: () => document.querySelector("[data-toggle=review]")?.click(),
  compact: () => ask("POST", "compact"),
  agents: () => openPicker("agent"),
  mode: () => openPicker("preset"),
  "add-dir": (path) => folders(path),
  search: (words) => search(words),
  permissions: () => location.assign(`${root}/p/${document.body.dataset.project}/rules`),
  mcp: () => location.assign(`${root}/servers?project=${document.body.dataset.project}`),
  log: () => location.assign(`${root}/p/${document.body.dataset.project}/log`),
  "review-mode": () => document.getElementById("staging-toggle")?.click(),
  export: () => ask("GET", "export", { target: "#dialog" }),
  share: () => ask("GET", "share", { target: "#dialog" }),
  fork: () => ask("GET", "fork", { target: "#dialog" }),
  move: () => ask("GET", "move", { target: "#dialog" }),
  timeline: () => go("timeline"),
  git: async () => (await import("./git.js")).open(),
  forge: async () => (await import("./forge.js")).open(),
  focus: async () => (await turns()).foldTurns(),
  notes: async () => (await import("./knowledge.js")).open(),
  glance: async () => (await import("./glance.js")).toggle(),
  preview: async () => (await import("./preview.js")).toggle(),
  goal: async (words) => (await import("./goals.js")).open(words),
  compare: async (words) => (await import("./compare.js")).open(words),
};
const ELSEWHERE = ["stop", "models", "inbox", "problems", "help"];
const ACTIONS = {
  prompt: () => field.focus(),
  "next-session": () => step(1),
  "previous-session": () => step(-1),
  "new-folder": () => window.htmx.ajax("GET", `${root}/p/${document.body.dataset.project}/sessions/folder`, { target: "#dialog" }),
  sessions: findSession,
  copy: () => [...document.querySelectorAll("[data-copy-answer]")].at(-1)?.click(),
  archive: () => ask("POST", "archive", { target: "#toasts", swap: "beforeend" }),
  delete: () => ask("POST", "delete", { target: "#toasts", swap: "beforeend" }),
  "reset-layout": () => window.laidOut.reset(),
  attach: () => document.getElementById("attach").click(),
  "large-prompt": async () => (await unlessLeft(import("./large.js")))?.toggle(),
  "save-snippet": async () => (await import("./snippets.js")).save(),
  "pin-note": async () => (await import("./pins.js")).writeNote(),
  schedules: () => location.assign(`${root}/schedules?project=${document.body.dataset.project}`),
  overview: () => location.assign(`${root}/?choose`),
  settings: () => location.assign(`${root}/settings?project=${document.body.dataset.project}`),
  keys: () => location.assign(`${root}/settings/keys?project=${document.body.dataset.project}`),
};
const WITH_WORDS = ["rename", "search", "add-dir", "goal", "compare"];

for (const [name, act] of Object.entries({ ...COMMANDS, ...ACTIONS })) shortcut(name, () => act(""));

// Over a page without another dialog; from the palette itself once more, away. It hears what is typed before the rest of
// it is loaded.
async function palette(kind = "") {
  const box = document.getElementById("palette");
  if (box.open) return box.close();
  dress(box, "picker", "palette");
  box.showModal();
  const { begin } = await import("./palette.js").catch((unloaded) => {
    box.close(); // what says so would be under it
    throw unloaded;
  });
  begin(kind);
}
const free = { within: () => !document.querySelector("dialog[open]:not(#palette)") };
shortcut("palette", () => palette(), free);
shortcut("open-file", () => palette("files"), free);
document.addEventListener("click", async ({ target }) => {
  if (target.closest("[data-palette]")) palette();
  else if (target.closest("[data-large-prompt]")) ACTIONS["large-prompt"]();
  else if (target.closest("[data-pin]")) (await import("./pins.js")).press(target.closest("[data-pin]"));
  else if (target.closest("[data-folders]")) folders();
  else if (target.closest("[data-git-panel]")) COMMANDS.git();
  else if (target.closest("[data-tour]")) (await import("./tour.js")).press(target.closest("[data-tour]"));
  else if (target.closest("[data-fold-turn]")) turns().then(({ turn }) => turn(target.closest("[data-fold-turn]").dataset.foldTurn));
});
if (document.documentElement.classList.contains("turns-folded")) turns();

function turns() {
  return import("./fold-turns.js");
}

// `/undo the second paragraph` is no command but a prompt.
export function knows(name, words) {
  return (Object.hasOwn(COMMANDS, name) || ELSEWHERE.includes(name)) && (!words || WITH_WORDS.includes(name));
}

export function run(name, words = "") {
  if (Object.hasOwn(COMMANDS, name)) COMMANDS[name](words);
  else perform(name);
}

function ask(verb, what, how = {}) {
  if (!form.dataset.base) return complain(gettext("There is no session yet: send a prompt first."));
  window.htmx.ajax(verb, `${form.dataset.base}/${what}`, { target: "#composer-problem", swap: "innerHTML", ...how });
}

async function folders(path) {
  const { project, session } = document.body.dataset;
  if (path && !session) return complain(gettext("There is no session yet: send a prompt first."));
  (await import("./folders.js")).open({ project, session }, path);
}

function go(where) {
  if (!form.dataset.base) return complain(gettext("There is no session yet: send a prompt first."));
  location.assign(`${form.dataset.base}/${where}`);
}

function step(by) {
  const links = [...document.querySelectorAll("#session-list .session-item > a[id]")];
  const here = links.findIndex((link) => link.getAttribute("aria-current"));
  links[here < 0 ? 0 : here + by]?.click();
}

// The list may be folded, or a drawer, or show files.
function findSession() {
  const filter = document.getElementById("filter");
  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true });
  const press = (selector) => [...document.querySelectorAll(selector)].find(isSeen)?.click();
  if (!isSeen(document.getElementById("sidebar"))) press("button[data-drawer=sidebar], [data-fold-list]");
  if (!isSeen(filter)) press("[data-side=sessions]");
  filter.focus();
}

function search(words) {
  location.assign(`${root}/search?${new URLSearchParams({ q: words || "", project: document.body.dataset.project })}`);
}

function writeTitle() {
  document.getElementById("title-button")?.click();
}
