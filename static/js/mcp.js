// The page of servers: the list is read again when the server says that something about it is new; what is open,
// typed and focused stays (data-merge).
import "./dialog.js";
import "./menu.js";
import { root } from "./root.js";
import "./time.js";
import "./toast.js";
import { isBusy } from "./busy.js";
import { apply } from "./fragments.js";
import { begun, changed, press, tell, words } from "./server-news.js";
import { gettext, interpolate } from "./words.js";

const GATHERED = 150;
const said = document.getElementById("servers-said");
const project = new URLSearchParams({ project: document.body.dataset.project });
let due = 0;
let reading = false;
let acted = "";

const list = () => document.getElementById("mcp-list");
const opened = () => [...list().querySelectorAll(".server-more[open]")];
const address = (details) => `${root}/servers/mcp/detail?${project}&${new URLSearchParams({ name: JSON.parse(details.closest(".server").getAttribute("hx-vals")).name })}`;

async function read(url) {
  try {
    const answer = await fetch(url, { headers: { "HX-Request": "true" } });
    return answer.ok ? await answer.text() : "";
  } catch {
    return ""; // the next news, or the next connection of the page's socket, reads it
  }
}

// Where the focus was, or at what was acted on.
function put(html) {
  if (!html) return;
  const focused = document.activeElement.id;
  const place = document.activeElement.closest(".server")?.id || acted;
  apply(html);
  if (!place || document.activeElement !== document.body) return;
  const ids = [focused, `${place}-name`, "mcp-title"];
  ids.map((id) => document.getElementById(id)).find(Boolean).focus({ preventScroll: true });
}

async function renew() {
  due = 0;
  if (reading || isBusy(list())) return later();
  reading = true;
  try {
    const before = words(list());
    const html = await read(`${root}/servers/mcp/list?${project}`);
    if (isBusy(list())) return later(); // what is held back could not be told
    put(html);
    tell(said, list(), before);
    acted = "";
    for (const details of opened()) put(await read(address(details)));
    list().querySelectorAll("[data-find]").forEach(find);
  } finally {
    reading = false;
  }
}

function later() {
  due ||= setTimeout(renew, GATHERED);
}

// What is closed is not kept up to date.
async function toggled(details) {
  const body = details.querySelector(".server-body");
  const html = details.open ? await read(address(details)) : "";
  body.innerHTML = details.open ? html : "";
  window.htmx.process(body);
}

function find(field) {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const item of document.getElementById(field.dataset.find).children) {
    item.hidden = !words.every((word) => item.dataset.words.includes(word));
    shown += item.hidden ? 0 : 1;
  }
  document.getElementById(`${field.dataset.find}-none`).textContent = words.length ? interpolate(gettext("%(count)s found"), { count: shown }) : "";
}

function another(button) {
  const pairs = button.closest(".pairs");
  const row = pairs.querySelector("template").content.firstElementChild.cloneNode(true);
  pairs.querySelector("ul").append(row);
  row.querySelector("input").focus();
}

function drop(button) {
  const pairs = button.closest(".pairs");
  button.closest("li").remove();
  (pairs.querySelector("li:last-child [data-drop]") || pairs.querySelector("[data-another]")).focus();
}

document.addEventListener("servers:changed", () => {
  changed();
  later();
});
document.addEventListener("htmx:beforeRequest", press);
document.addEventListener("servers:renew", ({ detail }) => {
  document.querySelector("#dialog dialog")?.close();
  document.getElementById(`${detail.place}-problem`)?.replaceChildren();
  begun(said, detail.said);
  acted = detail.place;
  later();
});
document.addEventListener("toggle", ({ target }) => target.matches?.("#mcp-list .server-more") && toggled(target), true);
opened().forEach(toggled); // somebody was faster than this script
document.addEventListener("input", ({ target }) => target.matches("[data-find]") && find(target));
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-another], [data-drop]");
  if (button) (button.matches("[data-drop]") ? drop : another)(button);
});
// A log that shows its end goes on showing it.
document.addEventListener("htmx:beforeSwap", ({ target }) => {
  if (target.matches(".server-log")) target.dataset.end = target.scrollHeight - target.scrollTop - target.clientHeight < 24;
});
document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target.matches(".server-log") && target.dataset.end === "true") target.scrollTop = target.scrollHeight;
});
