// Marks in a conversation the words that it was searched for (`data-found`), and goes to where they stand.
import { find, goTo, highlight, unfold } from "./marks.js";
import { onPage } from "./page.js";

const PAUSE = 200; // milliseconds, in which an answer may grow
const SHORT = /^[^\p{L}\p{N}]*[\p{L}\p{N}]{1,2}$/u;
const PART = /^prt_\w+$/;
const draw = highlight("found");

let pattern = null;
let whole = new Set(); // words so short that longer ones are not meant
let wanted = ""; // the part that is gone to
let ranges = [];
let at = -1;
let timer = 0;

const letter = /[\p{L}\p{N}]/u;
const unspaced = /[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]/;
const escaped = (word) => word.split(/\s+/).map((one) => one.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("\\s+");

// As sessions/core/index/words.py has it: where a word begins, or one within an identifier.
function isStart(text, place) {
  const [before, here, next] = [text[place - 1] ?? "", text[place] ?? "", text[place + 1] ?? ""];
  if (!letter.test(here) || !letter.test(before) || unspaced.test(here) || unspaced.test(before)) return true;
  return /[A-Z]/.test(here) && (!/[A-Z]/.test(before) || /[a-z]/.test(next));
}

const isEnd = (text, place) => !letter.test(text[place] ?? "") || isStart(text, place);

function* spans(text) {
  for (const match of text.matchAll(pattern)) {
    const [start, end] = [match.index, match.index + match[0].length];
    if (isStart(text, start) && (!whole.has(match[0].toLowerCase()) || isEnd(text, end))) yield [start, end];
  }
}

function mark() {
  timer = 0;
  ranges = find(spans);
  draw(ranges);
  if (wanted) arrive();
}

function soon() {
  timer ||= setTimeout(mark, PAUSE);
}

function show(number) {
  at = (number + ranges.length) % ranges.length;
  goTo(ranges[at]);
}

// What a card hides comes when it is opened: it is marked then, and gone to.
function arrive() {
  const part = document.getElementById(wanted);
  const number = ranges.findIndex((range) => part?.contains(range.startContainer));
  if (number < 0) return;
  wanted = "";
  show(number);
}

function open() {
  const part = PART.test(wanted) && document.getElementById(wanted);
  if (!part) return;
  unfold(part);
  mark();
}

document.addEventListener("page:arrived", open);
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-found-step]");
  if (button && ranges.length) show(at + Number(button.dataset.foundStep));
});
for (const event of ["wheel", "touchmove", "keydown"]) document.addEventListener(event, () => { wanted = ""; }, { passive: true });

const changes = new MutationObserver(soon);
onPage(() => {
  const { found } = document.getElementById("conversation").dataset;
  const words = found ? JSON.parse(found) : [];
  pattern = words.length ? new RegExp(words.map(escaped).join("|"), "giu") : null;
  whole = new Set(words.map((word) => word.toLowerCase()).filter((word) => SHORT.test(word) && !unspaced.test(word)));
  if (!pattern) return () => {};
  wanted = new URLSearchParams(location.search).get("part") ?? "";
  at = -1;
  changes.observe(document.getElementById("messages"), { childList: true, subtree: true, characterData: true });
  mark();
  return () => {
    changes.disconnect();
    clearTimeout(timer);
    timer = 0;
    ranges = [];
    draw(ranges);
  };
});
