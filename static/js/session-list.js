// The list of sessions stays in order while they are used: each in its group, and under the right days when a day ends.
import { placeOf } from "./fragments.js";
import { root } from "./root.js";
import { shortcut } from "./shortcuts.js";

const YEAR = 60 * 60 * 24 * 365;
const PATIENCE = 60_000; // before the list is asked for again, when the server's clock says that it is not tomorrow yet
const nobody = () => null;
const REST = 1500; // milliseconds that a pointer lies still for before rows move under it
let timer = 0;
let resting = 0;
let pointed = 0; // when the pointer moved over the list last
let focused = nobody; // finds, in a list that takes the place of this one, what has the keyboard

const list = () => document.getElementById("session-list");
const side = document.getElementById("side-sessions");
export const rows = () => [...list().querySelectorAll(".session-item")];
const row = () => document.activeElement.closest(".session-item");
export const link = (item) => item.querySelector("a");
const periods = () => [...list().querySelectorAll("[data-begin]")]; // today first
const rank = (item) => Number(item.dataset.order);

// A title in it is being written, or a row waits for an answer that is to go into it.
const isHeld = () => Boolean(list().querySelector(".renaming, .htmx-request"));
let missed = false;

// While an answer is on its way another one is asked for after it: what the list itself would ask then, it does not, as
// the answer has taken its place.
function renew() {
  missed = isHeld() || list().matches(".htmx-request");
  if (!missed) window.htmx.trigger(list(), "list:renew");
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.requestConfig.elt !== list()) return;
  if (isHeld()) {
    missed = true;
    detail.shouldSwap = false;
  } else focused = placeOf(document.activeElement, list());
});
document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target.id !== "session-list") return;
  focused()?.focus({ preventScroll: true });
  focused = nobody;
  watchDay();
});

document.addEventListener("page:arrives", ({ detail }) => detail.querySelector("#list-news") && renew());
// Also after an answer that puts nothing in, after which nothing settles.
const caughtUp = () => missed && !isHeld() && renew();
for (const name of ["htmx:afterRequest", "htmx:afterSettle"]) document.addEventListener(name, caughtUp, true);

// Whether it is another list than the one that a page comes with.
function isOwn() {
  const { q, archived, label } = document.querySelector("#sidebar .filter").elements;
  return Boolean(q.value || archived.checked || label || list().querySelector(".renaming"));
}

// The cookie comes to the server with the page, so that the next one has its days right from the beginning.
function tellZone() {
  const told = `timezone=${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
  if (document.cookie.split("; ").includes(told)) return;
  document.cookie = `${told}; Path=${root}/; Max-Age=${YEAR}; SameSite=Strict`;
  renew();
}

// The list that a row belongs into; none where its days are not there.
function home(item) {
  const { group } = item.dataset;
  if (group) return document.getElementById(`sessions-${group}`);
  const fits = ({ dataset: { begin, end } }, index) => rank(item) >= begin && (rank(item) < end || !index);
  return periods().find(fits)?.querySelector("ul");
}

function isPlaced(item) {
  const next = item.nextElementSibling;
  const before = item.previousElementSibling;
  return item.parentElement === home(item) && !(next && rank(next) > rank(item)) && !(before && rank(before) < rank(item));
}

// The keyboard goes with it.
function put(item, into) {
  const focused = item.contains(document.activeElement) && document.activeElement;
  const after = [...into.children].find((other) => other !== item && rank(other) < rank(item));
  into.insertBefore(item, after ?? null);
  if (focused) focused.focus({ preventScroll: true });
}

document.addEventListener("list:arrives", (event) => {
  if (!isOwn()) return;
  event.preventDefault();
  renew();
});

// Nothing moves away from under a pointer that is on its way to it.
function order() {
  clearTimeout(resting);
  const left = pointed + REST - Date.now();
  if (left > 0) return (resting = setTimeout(order, left));
  for (const item of rows()) {
    if (item.matches(".renaming") || isPlaced(item)) continue;
    const into = home(item);
    if (!into) return renew();
    put(item, into);
  }
}

side.addEventListener("pointermove", ({ pointerType }) => pointerType === "mouse" && (pointed = Date.now()));
side.addEventListener("pointerleave", () => {
  pointed = 0;
  order();
});

function watchDay() {
  clearTimeout(timer);
  const end = Number(periods()[0].dataset.end);
  timer = setTimeout(endDay, Math.max(end - Date.now(), PATIENCE), end);
}

function endDay(end) {
  if (Date.now() >= end) renew();
  watchDay();
}

document.addEventListener("page:changed", order);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) endDay(Number(periods()[0].dataset.end));
});
document.addEventListener("page:connected", tellZone); // htmx has wired the list by then

// Whoever has the keyboard in a row that goes has it in the next one.
document.addEventListener("page:arrives", ({ detail }) => {
  const item = row();
  if (!item || !detail.querySelector(`#${item.id}[hx-swap-oob=delete]`)) return;
  const items = rows();
  const at = items.indexOf(item);
  const next = items[at + 1] ?? items[at - 1];
  if (next) link(next).focus({ preventScroll: true });
});

// The menu of a session comes when it is asked for.

const openMenu = async (...how) => (await import("./session-menu.js")).open(...how);

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-session-menu]");
  if (!button) return;
  const { left, bottom } = button.getBoundingClientRect();
  openMenu(button.dataset.sessionMenu, { x: left, y: bottom + 4 }, button.id);
});
side.addEventListener("contextmenu", (event) => {
  const item = event.target.closest(".session-item:not(.renaming)");
  if (!item) return;
  event.preventDefault();
  const { left, bottom } = link(item).getBoundingClientRect();
  openMenu(link(item).pathname, { x: event.clientX || left + 24, y: event.clientY || bottom }, link(item).id);
});

// Several are chosen by Ctrl or Cmd, Shift, and keys.

const choose = async (...how) => (await import("./session-choice.js")).choose(...how);

side.addEventListener("click", (event) => {
  const item = event.target.closest(".session-item > a[id]")?.parentElement;
  if (!item || !(event.ctrlKey || event.metaKey || event.shiftKey)) return;
  event.preventDefault();
  choose(item, event.shiftKey);
});
side.addEventListener("keydown", (event) => {
  const item = event.target.matches(".session-item > a[id]") && event.target.parentElement;
  const by = event.shiftKey ? { ArrowDown: 1, ArrowUp: -1 }[event.key] : event.key === " " && 0;
  if (!item || !Number.isInteger(by)) return;
  event.preventDefault();
  choose(by ? move(by) : item, Boolean(by), item);
});

// The order by hand comes with the first that is dragged, or moved by keys.

const byHand = async (act, ...how) => (await import("./session-order.js"))[act](...how);

side.addEventListener("dragstart", ({ target }) => {
  const item = target.closest?.(".session-item");
  if (item) byHand("drag", item);
});

// Keys of the row that has the focus.

const here = { within: (element) => Boolean(list().contains(element) && element.closest(".session-item:not(.renaming)")) };

function move(by) {
  const items = rows().filter((item) => !item.matches(".renaming"));
  const to = items[items.indexOf(row()) + by] ?? row();
  link(to).focus();
  return to;
}

const ask = (verb, item, what, how) => window.htmx.ajax(verb, `${link(item).pathname}/${what}`, { source: link(item), ...how });

export const rename = (item) => ask("GET", item, "rename", { target: item, swap: "outerHTML" });

shortcut("session-next", () => move(1), here);
shortcut("session-previous", () => move(-1), here);
shortcut("session-pin", () => ask("POST", row(), "pin", { swap: "none" }), here);
shortcut("session-up", () => byHand("step", row(), -1), here);
shortcut("session-down", () => byHand("step", row(), 1), here);
shortcut("session-folder", () => byHand("choose", row()), here);
shortcut("session-rename", () => rename(row()), here);
shortcut("session-delete", () => ask("POST", row(), "delete", { target: "#toasts", swap: "beforeend" }), here);

watchDay();
