// The find of a conversation: a bar above it. It knows from the server also of messages that are not loaded yet, and of
// what cards hide; those are loaded and opened when they are gone to.
import { form } from "./composer.js";
import { composes } from "./ime.js";
import { reach } from "./jump.js";
import { find, goTo, highlight, unfold } from "./marks.js";
import { onPage } from "./page.js";
import { lead } from "./scroll.js";
import { gettext, interpolate } from "./words.js";

const PAUSE = 150; // milliseconds
const bar = document.getElementById("find-bar");
const field = document.getElementById("find-words");
const count = document.getElementById("find-count");
const draw = highlight("found-within");
const drawCurrent = highlight("found-current", 1);

let pattern = null;
let told = []; // [message, part, count] of the whole conversation
let empty = new Set(); // parts that were opened and did not show it
let stops = []; // in order: `{ message, part, range }`, or with `count` what the page does not show yet
let at = -1;
let asking = null;
let steps = 0; // what is under way gives way to the next
let typed = 0; // timers
let changed = 0;
let before = null; // what had the keyboard

// Once it is shown; `element` had the keyboard, null where it was shown already.
export function begin(element) {
  before = element ?? before;
  changes.observe(document.getElementById("messages"), { childList: true, subtree: true, characterData: true });
  search();
}

function close() {
  if (bar.hidden) return;
  const within = bar.contains(document.activeElement);
  bar.hidden = true;
  asking?.abort();
  steps += 1;
  clearTimeout(typed);
  changes.disconnect();
  pattern = null;
  told = [];
  renew();
  if (within) (before?.isConnected && before !== document.body ? before : document.getElementById("prompt")).focus({ preventScroll: true });
}

const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

async function search() {
  clearTimeout(typed);
  asking?.abort();
  steps += 1;
  const words = field.value.trim().split(/\s+/).filter(Boolean);
  pattern = words.length ? new RegExp(words.map(escaped).join("\\s+"), "giu") : null;
  [told, empty, at] = [[], new Set(), -1];
  renew();
  if (!pattern) return;
  count.textContent = "…";
  const mine = (asking = new AbortController());
  try {
    const answer = await fetch(`${form.dataset.base}/find?${new URLSearchParams({ q: field.value })}`, { signal: mine.signal });
    if (answer.ok) told = (await answer.json()).places;
  } catch (error) {
    if (error.name === "AbortError") return; // else what the page has can be found
  }
  renew();
  step(0);
}

function* spans(text) {
  for (const match of text.matchAll(pattern)) yield [match.index, match.index + match[0].length];
}

const after = (one, other) => (one.message === other.message ? one.part > other.part : one.message > other.message) || -1;

// Ids rise with time.
function renew() {
  const ranges = pattern ? find(spans) : [];
  const current = stops[at];
  const shown = ranges.map((range) => {
    const { parentElement: element } = range.startContainer;
    return { range, message: element.closest(".message").id, part: element.closest(".part")?.id ?? "" };
  });
  const parts = new Set(shown.map(({ part }) => part));
  const hidden = told.filter(([message, part]) => !parts.has(part) && !empty.has(part) && !document.getElementById(message)?.matches(".reverted"));
  stops = [...shown, ...hidden.map(([message, part, number]) => ({ message, part, count: number }))].sort((one, other) => (one.part === other.part ? 0 : Number(after(one, other))));
  at = current ? stops.findIndex((stop) => isSame(stop, current)) : -1;
  draw(ranges);
  tell();
}

function isSame({ part, range }, other) {
  if (!range || !other.range) return part === other.part;
  return range.startContainer === other.range.startContainer && range.startOffset === other.range.startOffset;
}

function tell() {
  const number = (some) => some.reduce((sum, stop) => sum + (stop.count ?? 1), 0);
  drawCurrent(stops[at]?.range ? [stops[at].range] : []);
  count.textContent = !pattern ? "" : !stops.length ? gettext("Not found") : interpolate(gettext("%(at)s of %(count)s"), { at: at < 0 ? "–" : number(stops.slice(0, at)) + 1, count: number(stops) });
}

// The first one that is in sight or below; above, where there is none.
function nearest() {
  const { top } = document.getElementById("scroller").getBoundingClientRect();
  const found = stops.findIndex(({ range }) => range && range.getBoundingClientRect().top >= top);
  return found < 0 ? stops.length - 1 : found;
}

// By 0: to where one is looking.
async function step(by) {
  if (!stops.length) return;
  const mine = ++steps;
  at = at < 0 ? nearest() : (at + by + stops.length) % stops.length;
  tell();
  const { range, message, part } = stops[at];
  if (range) return goTo(range);
  await lead(() => reach(message));
  const element = document.getElementById(part);
  if (element) await opened(element);
  if (mine !== steps) return;
  renew();
  const found = stops.map((stop, index) => (stop.part === part && stop.range ? index : -1)).filter((index) => index >= 0);
  if (found.length) {
    at = by < 0 ? found.at(-1) : found[0];
    tell();
    return goTo(stops[at].range);
  }
  // It stands in what the model wrote, and not in what is made of that.
  empty.add(part);
  renew();
  element?.scrollIntoView({ block: "center" });
}

// Until what it hides has come.
async function opened(part) {
  const comes = part.querySelector("details:not([open]) .lazy > .soft:only-child");
  const answer = comes && new Promise((done) => part.addEventListener("htmx:afterRequest", done, { once: true }));
  unfold(part);
  await answer;
}

function soon() {
  clearTimeout(changed);
  changed = setTimeout(renew, PAUSE);
}

const changes = new MutationObserver(soon);
onPage(() => close);
field.addEventListener("input", () => {
  clearTimeout(typed);
  typed = setTimeout(search, PAUSE);
});
bar.addEventListener("submit", (event) => {
  event.preventDefault();
  step(1);
});
bar.addEventListener("keydown", (event) => {
  if (composes(event)) return;
  if (event.key === "Escape") close();
  else if (event.key === "Enter" && event.shiftKey) step(-1);
  else return;
  event.preventDefault();
  event.stopPropagation();
});
bar.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button?.dataset.findStep) step(Number(button.dataset.findStep));
  else if (button?.hasAttribute("data-find-close")) close();
});
