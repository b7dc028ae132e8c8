// The page of a session, and how that of another takes its place in the same document (docs/decisions/0029-switching.md).
// What a module does for a page it registers by `onPage`; what it waits for across a switch it checks by `thisPage`.
import { root } from "./root.js";

// Taken from the new page: elements with all that is in them, and elements that keep what is in them.
const PARTS = ["damage", "skip-review", "filter-current", "session-list", "title", "session-buttons", "session-notices", "conversation", "states", "staging-switch", "meter", "activity", "review", "problems-list"];
const FRAMES = ["layout", "servers-badge", "problems-slot", "composer", "choice"];
// Requests from here are not about the page that is shown: their answers count after a switch too.
const LASTING = "#inbox, #toasts, #sidebar .session-item, #session-menu [hx-post]";

const beginnings = [];
const endings = [];
const running = new Set(); // requests of this page
const left = new WeakSet(); // requests of pages before it
const folder = (page) => page.getElementById("terminal")?.dataset.directory;
const files = (page) => [...page.head.querySelectorAll("script, link")].map((file) => file.getAttribute("src") ?? file.getAttribute("href")).join();
const loaded = files(document); // before scripts add their own
let number = 0;
let made = ""; // the session that the first prompt of a page without one has made

// What is written in the page belongs to this session; "new" to none yet.
export const owner = () => made || document.body.dataset.session || "new";

// The address of the session of the page.
export const base = () => `${root}/p/${document.body.dataset.project}/s/${document.body.dataset.session}`;

// The page of that session is about to take this one's place: what is written here goes on there.
export function becomes(session) {
  made = session;
  document.dispatchEvent(new CustomEvent("page:becomes"));
}

// `begin` is called now and for every page that takes this one's place, with whether what was written in that one
// goes on; a function that it gives, when it is left.
export function onPage(begin) {
  beginnings.push(begin);
  endings.push(begin());
}

// Gives a function that tells whether the page of now is still there.
export function thisPage() {
  const mine = number;
  return () => mine === number;
}

// Whether a document is the page of a session like this one: of the same folder, with the same scripts and styles.
export function isAlike(fresh) {
  return files(fresh) === loaded && folder(fresh) === folder(document) && [...PARTS, ...FRAMES].every((id) => fresh.getElementById(id));
}

// The page of `fresh` takes the place of this one, as the address already says.
export function turn(fresh) {
  number += 1;
  for (const end of endings.splice(0)) end?.();
  leave();
  document.title = fresh.title;
  dress(document.body, fresh.body);
  for (const id of [...FRAMES, ...PARTS]) dress(document.getElementById(id), fresh.getElementById(id));
  for (const id of PARTS) document.getElementById(id).replaceChildren(...fresh.getElementById(id).childNodes);
  const goesOn = made !== "" && made === document.body.dataset.session;
  made = "";
  endings.push(...beginnings.map((begin) => begin(goesOn)));
  for (const id of [...FRAMES, ...PARTS]) {
    window.htmx.process(document.getElementById(id));
    window.htmx.trigger(`#${id}`, "page:turned"); // htmx loads an element once
  }
}

// What lies over the page goes with it, and what it still asks for.
function leave() {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  for (const box of document.querySelectorAll(":popover-open")) box.hidePopover();
  for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
  document.getElementById("dialog").replaceChildren();
  for (const { xhr, verb } of running) {
    left.add(xhr);
    if (verb === "get") xhr.abort();
  }
  running.clear();
}

function dress(element, { attributes }) {
  for (const { name } of [...element.attributes]) if (!attributes.getNamedItem(name)) element.removeAttribute(name);
  for (const { name, value } of attributes) element.setAttribute(name, value);
}

document.addEventListener("htmx:beforeSend", ({ detail: { xhr, elt, requestConfig } }) => {
  if (elt.closest(LASTING)) return;
  const request = { xhr, verb: requestConfig.verb };
  running.add(request);
  xhr.addEventListener("loadend", () => running.delete(request));
});
document.addEventListener("htmx:beforeOnLoad", (event) => {
  if (left.has(event.detail.xhr)) event.preventDefault();
});
