// What a built-in `/command` does; their list is the server's (sessions/pages/complete.py).
import { complain, form } from "./composer.js";
import { openHelp } from "./help.js";
import { open as openInbox } from "./inbox.js";
import { open as openPicker } from "./picker.js";
import { open as openProblems } from "./problems.js";
import { shortcut } from "./shortcuts.js";

const COMMANDS = {
  new: () => document.querySelector("[data-new]").click(),
  undo: () => [...document.querySelectorAll(".message.user:not(.reverted) .undo")].at(-1)?.click(),
  redo: () => document.querySelector("[data-redo]")?.click(),
  rename: (title) => (title ? ask("POST", "rename", { swap: "none", values: { title } }) : writeTitle()),
  stop: () => document.getElementById("stop")?.click(),
  changes: () => document.querySelector("[data-toggle=review]")?.click(),
  compact: () => ask("POST", "compact"),
  models: () => openPicker("model"),
  agents: () => openPicker("agent"),
  mode: () => openPicker("preset"),
  search: (words) => search(words),
  permissions: () => location.assign(`/p/${document.body.dataset.project}/rules`),
  mcp: () => location.assign(`/servers?project=${document.body.dataset.project}`),
  inbox: openInbox,
  problems: openProblems,
  log: () => location.assign(`/p/${document.body.dataset.project}/log`),
  "review-mode": () => document.getElementById("staging-toggle")?.click(),
  export: () => ask("GET", "export", { target: "#dialog" }),
  share: () => ask("GET", "share", { target: "#dialog" }),
  fork: () => ask("GET", "fork", { target: "#dialog" }),
  timeline: () => go("timeline"),
  help: openHelp,
};
const WITH_WORDS = ["rename", "search"];

// `/undo the second paragraph` is no command but a prompt.
export function knows(name, words) {
  return Object.hasOwn(COMMANDS, name) && (!words || WITH_WORDS.includes(name));
}

export function run(name, words = "") {
  COMMANDS[name]?.(words);
}

function ask(verb, what, how = {}) {
  if (!form.dataset.base) return complain("There is no session yet: send a prompt first.");
  window.htmx.ajax(verb, `${form.dataset.base}/${what}`, { target: "#composer-problem", swap: "innerHTML", ...how });
}

function go(where) {
  if (!form.dataset.base) return complain("There is no session yet: send a prompt first.");
  location.assign(`${form.dataset.base}/${where}`);
}

function search(words) {
  location.assign(`/search?${new URLSearchParams({ q: words || "", project: document.body.dataset.project })}`);
}

function writeTitle() {
  document.getElementById("title-button")?.click();
}

shortcut("search", () => search(""));
