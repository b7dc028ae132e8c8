// The inbox of approvals in every page's header.
import "./approvals.js";
import { dress } from "./sheet.js";
import { shortcut } from "./shortcuts.js";
import "./waiting.js";

const box = document.getElementById("inbox");
const button = document.getElementById("inbox-button");
const title = document.getElementById("inbox-title");
let answered = null;

// What answers questions comes with the first of them, in the inbox or on the page of its session.
const asked = new MutationObserver(load);
function load() {
  if (!document.querySelector("form.question")) return;
  asked.disconnect();
  import("./questions.js");
}
for (const place of [box, document.getElementById("states")]) if (place) asked.observe(place, { childList: true, subtree: true });
load();

const heads = () => [...box.querySelectorAll(".inbox-head")];
const entryOf = (node) => node?.closest?.(".inbox-entry");

export function open() {
  if (!box.matches(":popover-open")) box.showPopover();
  (heads()[0] || title).focus();
}

function toggle(head, show = head.getAttribute("aria-expanded") !== "true") {
  head.setAttribute("aria-expanded", String(show));
  entryOf(head).toggleAttribute("data-open", show);
}

// The field for the words is there once the card is.
function refuse(entry) {
  const head = entry.querySelector(".inbox-head");
  const words = () => entry.querySelector(".reject [name=words]")?.focus();
  const loaded = entry.querySelector(".permission");
  if (head.getAttribute("aria-expanded") !== "true") head.click();
  if (loaded) words();
  else entry.addEventListener("htmx:load", words, { once: true });
}

function allow(entry) {
  (entry.querySelector(".permission .once") || entry.querySelector("[data-key=a], [data-key=look]"))?.click();
}

function move(by) {
  const all = heads();
  const at = all.indexOf(entryOf(document.activeElement)?.querySelector(".inbox-head"));
  all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
}

const here = { within: (element) => box.contains(element) };
const atEntry = (act) => (event) => (entryOf(event.target) ? act(entryOf(event.target)) : false);
shortcut("inbox", open);
shortcut("inbox-next", () => move(1), here);
shortcut("inbox-previous", () => move(-1), here);
shortcut("inbox-allow", atEntry(allow), here);
shortcut("inbox-reject", atEntry(refuse), here);
shortcut("inbox-open", atEntry((entry) => entry.closest(".inbox-group").querySelector("h3 a").click()), here);

box.addEventListener("click", (event) => {
  const head = event.target.closest(".inbox-head");
  if (head) toggle(head);
  else if (event.target.closest("[data-key=look]")) entryOf(event.target).querySelector(".inbox-head").click();
  else if (event.target.closest("[data-key=x]")) refuse(entryOf(event.target));
});

// Whoever answers goes on at the next request. One that somebody else answered does not move the keyboard to
// another: the next key would be meant for what is gone.
box.addEventListener("htmx:beforeRequest", (event) => {
  const entry = entryOf(event.target);
  if (event.detail.requestConfig.verb === "post" && entry) answered = entry.id;
});
box.addEventListener("htmx:afterRequest", ({ detail }) => {
  const entry = detail.successful && detail.requestConfig.verb === "post" && document.getElementById(answered);
  if (!entry || entry.querySelector(".permission, .question")) return;
  const all = heads();
  const at = all.indexOf(entry.querySelector(".inbox-head"));
  entry.remove();
  (all[at + 1] || all[at - 1] || title).focus();
});

box.addEventListener("beforetoggle", ({ newState }) => {
  if (newState === "open") dress(box, "inbox-panel");
  const right = document.documentElement.clientWidth - button.getBoundingClientRect().right;
  box.style.setProperty("--inbox-right", `${right}px`);
});
box.addEventListener("toggle", (event) => {
  button?.setAttribute("aria-expanded", String(event.newState === "open"));
  if (event.newState === "open" && !box.contains(document.activeElement)) (heads()[0] || title).focus();
});
