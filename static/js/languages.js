// Language servers on the page of servers: the section is read again when the server says that something about
// it is new, and each second while one starts or is installed; what is open and focused stays (data-merge).
import { isBusy } from "./busy.js";
import { apply } from "./fragments.js";
import { root } from "./root.js";
import { begun, changed, press, tell, words } from "./server-news.js";

const GATHERED = 150;
const WORKING = 1000;
const MEMORY = 10000;
const section = document.getElementById("languages");
const said = document.getElementById("servers-said");
const project = document.body.dataset.project;
let due = 0;
let reading = false;
let acted = "";
let acting = false;

async function read(url, more = {}) {
  try {
    const answer = await fetch(`${url}?${new URLSearchParams({ project, ...more })}`, { headers: { "HX-Request": "true" } });
    return answer.ok ? await answer.text() : "";
  } catch {
    return ""; // the next news, or the next connection of the page's socket, reads it
  }
}

async function renew() {
  due = 0;
  if (reading || isBusy(section)) return later();
  reading = true;
  try {
    const before = words(section);
    const html = await read(`${root}/servers/languages`);
    if (acting) return;
    if (isBusy(section)) return later(); // what is held back could not be told
    if (html) put(html);
    tell(said, section, before);
    const more = section.querySelector("#languages-more[open]");
    if (more?.querySelector("[data-working]")) await fill(more);
  } finally {
    reading = false;
  }
  watch();
}

// A button that is disabled while it is at work loses the focus.
function put(html) {
  const held = document.activeElement === document.body ? document.getElementById(acted) : document.activeElement;
  const within = section.contains(held);
  const row = held?.closest(".server");
  acted = "";
  apply(html);
  if (!within || section.contains(document.activeElement)) return;
  const heading = row?.isConnected ? row.querySelector("h3") : document.getElementById("languages-title");
  (document.getElementById(held.id) || heading).focus({ preventScroll: true });
}

function later(wait = GATHERED) {
  if (due && wait !== GATHERED) return;
  clearTimeout(due);
  due = setTimeout(renew, wait);
}

// What it holds in memory comes without news.
function watch() {
  if (section.querySelector("[data-working]")) later(WORKING);
  else if (section.querySelector("[data-state='connected']") && !document.hidden) later(MEMORY);
}

async function fill(details) {
  const values = JSON.parse(details.closest("[hx-vals]")?.getAttribute("hx-vals") || "{}");
  const body = details.querySelector(".lazy");
  const html = await read(details.dataset.url, values);
  body.innerHTML = details.open ? html : "";
  window.htmx.process(body);
  for (const log of body.querySelectorAll(".server-log")) log.scrollTop = log.scrollHeight;
}

// What is closed is not kept up to date.
function toggled(details) {
  if (details.open) fill(details);
  else details.querySelector(".lazy").replaceChildren();
}

document.addEventListener("servers:changed", () => {
  changed();
  later();
});
document.addEventListener("visibilitychange", () => document.hidden || later());
document.addEventListener("languages:renew", ({ target, detail }) => {
  acted = target.id;
  document.getElementById("languages-problem")?.replaceChildren();
  begun(said, detail.said);
  later();
});
document.addEventListener("toggle", ({ target }) => target.matches?.(".language-more") && toggled(target), true);
section.querySelectorAll(".language-more[open]").forEach(toggled); // somebody was faster than this script
section.addEventListener("htmx:afterSettle", watch);
// The answer to the switch finds it in its place: what is new meanwhile is read after it.
section.addEventListener("htmx:beforeRequest", (event) => {
  press(event);
  acting = event.target.id === "languages-switch";
});
section.addEventListener("htmx:afterRequest", () => {
  if (acting) later();
  acting = false;
});
