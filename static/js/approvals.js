// The cards of permission requests: "Allow…" unfolds, the button counts the hunks that are chosen, the call that
// asks says so, and whoever answered goes on at the next request.
import "./approvals-keep.js";
import { onPage } from "./page.js";
import "./ready.js";
import { shortcut } from "./shortcuts.js";
import { gettext, interpolate } from "./words.js";

const hasKeyboard = matchMedia("(pointer: fine)");
let answering = "";

const cardOf = (node) => node?.closest?.(".permission");

function unfold(button) {
  const scope = document.getElementById(button.getAttribute("aria-controls"));
  scope.hidden = !scope.hidden;
  button.setAttribute("aria-expanded", String(!scope.hidden));
  if (scope.hidden) return;
  window.htmx.trigger(scope, "open");
  scope.querySelector(":checked").focus();
  scope.scrollIntoView({ block: "nearest" });
}

// A file whose text is edited counts as a whole: its boxes are gone.
function count(card) {
  const boxes = [...card.querySelectorAll("[name=hunk]")];
  const chosen = boxes.filter((box) => box.checked).length;
  const edited = card.querySelectorAll(".content").length;
  const once = card.querySelector(".once");
  const folded = Boolean(card.querySelector(".what [data-folded]"));
  once.disabled = folded || (boxes.length > 0 && !chosen && !edited);
  for (const held of card.querySelectorAll(".more, .scope [type=submit]")) held.disabled = folded;
  if (!folded) card.querySelector(".folded-words")?.remove();
  const all = edited ? gettext("Allow as edited") : gettext("Allow once");
  const some = edited ? gettext("Allow %(chosen)s of %(count)s hunks, edited") : gettext("Allow %(chosen)s of %(count)s hunks");
  const words = chosen === boxes.length ? all : interpolate(some, { chosen, count: boxes.length });
  if (once.textContent !== words) once.textContent = words;
}

// Runs at every frame: the conversation is looked over only while somebody is asked.
let waiting = new Set();
function mark() {
  const asked = [...document.querySelectorAll("#permissions .permission, #questions .question")];
  const asks = asked.map(({ dataset }) => `.tool[data-call="${CSS.escape(dataset.call)}"]`);
  const cards = new Set(asks.length ? document.querySelectorAll(`#messages :is(${asks})`) : []);
  for (const card of waiting) if (!cards.has(card)) card.removeAttribute("data-waiting");
  for (const card of cards) card.setAttribute("data-waiting", "");
  waiting = cards;
}

// Only after an own answer: the next key of somebody whose card was answered elsewhere is not meant for another.
function goOn() {
  mark();
  if (!answering || document.getElementById(answering) || document.activeElement !== document.body) return;
  answering = "";
  if (!hasKeyboard.matches) return;
  const next = asked();
  (next || document.getElementById("prompt"))?.focus({ preventScroll: Boolean(!next) });
}

// The text of a card, not its button: the next key is not meant for what nobody has read.
const asked = () => document.querySelector("#permissions .permission .what, #questions .question h2");
shortcut("asked", () => (asked() ? asked().focus() : false), { typing: true });

document.addEventListener("click", (event) => {
  const more = event.target.closest(".permission .more");
  if (more) unfold(more);
});

document.addEventListener("change", (event) => {
  if (event.target.name === "hunk") count(cardOf(event.target));
});

document.addEventListener("input", (event) => {
  if (event.target.name === "minutes") event.target.closest("form").elements.scope.value = "minutes";
});

document.addEventListener("keydown", (event) => {
  const scope = event.key === "Escape" && event.target.closest?.(".scope");
  if (!scope || event.defaultPrevented) return;
  event.preventDefault();
  const more = cardOf(scope).querySelector(".more");
  unfold(more);
  more.focus();
});

// A file of which more is shown keeps the hunks that were left out.
const leftOut = new WeakMap();
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (!detail.target.matches(".proposed")) return;
  const boxes = [...detail.target.querySelectorAll("[name=hunk]:not(:checked)")];
  leftOut.set(cardOf(detail.target), boxes.map((box) => box.id));
});

document.addEventListener("htmx:afterSettle", ({ detail }) => {
  const card = cardOf(detail.elt);
  if (!card || detail.elt === card) return;
  for (const id of leftOut.get(card) || []) {
    const box = document.getElementById(id);
    if (box) box.checked = false;
  }
  leftOut.delete(card);
  count(card);
});

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  const card = detail.elt.closest("#permissions .permission");
  if (card && detail.requestConfig.path.endsWith("/reply")) answering = card.id;
});
document.addEventListener("focusin", () => {
  answering = "";
});

const states = document.getElementById("states");
if (states) {
  new MutationObserver(goOn).observe(states, { childList: true, subtree: true });
  for (const event of ["page:changed", "page:replaced"]) document.addEventListener(event, mark);
  onPage(mark);
}
