// The list of sessions stays in order while they are used, and under the right days when a day ends.
import { placeOf } from "./fragments.js";

const YEAR = 60 * 60 * 24 * 365;
const PATIENCE = 60_000; // before the list is asked for again, when the server's clock says that it is not tomorrow yet
const nobody = () => null;
let timer = 0;
let focused = nobody; // finds, in a list that takes the place of this one, what has the keyboard

const list = () => document.getElementById("session-list");
const used = (item) => Number(item.dataset.used);

// A title in it is being written, a menu is open, or a row waits for an answer that is to go into it.
const isHeld = () => Boolean(list().querySelector(".renaming, .htmx-request, details[open]"));
let missed = false;

function renew() {
  missed = isHeld();
  if (!missed) window.htmx.trigger(list(), "list:renew");
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.requestConfig.elt !== list()) return;
  missed = isHeld();
  if (missed) detail.shouldSwap = false;
  else focused = placeOf(document.activeElement, list());
});
document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target.id !== "session-list") return;
  focused()?.focus({ preventScroll: true });
  focused = nobody;
  watchDay();
});

for (const name of ["htmx:afterSettle", "toggle"]) document.addEventListener(name, () => missed && !isHeld() && renew(), true);

// Whether it is another list than the one that a page comes with.
function isOwn() {
  const { q, archived } = document.querySelector("#sidebar .filter").elements;
  return Boolean(q.value || archived.checked || list().querySelector(".renaming"));
}

// The cookie comes to the server with the page, so that the next one has its days right from the beginning.
function tellZone() {
  const told = `timezone=${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
  if (document.cookie.split("; ").includes(told)) return;
  document.cookie = `${told}; Path=/; Max-Age=${YEAR}; SameSite=Strict`;
  renew();
}

function isPlaced(item) {
  const { begin, end } = item.closest(".period").dataset;
  const fits = used(item) >= begin && (used(item) < end || item.closest("#sessions-today"));
  const next = item.nextElementSibling;
  const before = item.previousElementSibling;
  return fits && !(next && used(next) > used(item)) && !(before && used(before) < used(item));
}

// A session that is used comes to the top; the keyboard goes with it.
function rise(item) {
  const today = list().querySelector(".period > ul");
  const focused = item.contains(document.activeElement) && document.activeElement;
  const after = [...today.children].find((other) => other !== item && used(other) < used(item));
  today.insertBefore(item, after ?? null);
  if (focused) focused.focus({ preventScroll: true });
}

document.addEventListener("list:arrives", (event) => {
  if (!isOwn()) return;
  event.preventDefault();
  renew();
});

function order() {
  const [today] = list().querySelectorAll(".period");
  for (const item of list().querySelectorAll(".session-item")) {
    if (isPlaced(item)) continue;
    if (used(item) < today.dataset.begin) return renew(); // brought back: its days may not be in the list
    rise(item);
  }
}

function watchDay() {
  clearTimeout(timer);
  const end = Number(list().querySelector(".period").dataset.end);
  timer = setTimeout(endDay, Math.max(end - Date.now(), PATIENCE), end);
}

function endDay(end) {
  if (Date.now() >= end) renew();
  watchDay();
}

document.addEventListener("page:changed", order);
document.addEventListener("visibilitychange", () => {
  const today = list().querySelector(".period");
  if (!document.hidden) endDay(Number(today.dataset.end));
});
document.addEventListener("page:connected", tellZone); // htmx has wired the list by then

watchDay();
