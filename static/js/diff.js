// Long diffs: rows are made as they come near the screen and taken away again far from it. An element `.later`
// stands for rows and is about as high as they are. Answers are asked for nearest first, two at a time.

import { made, release } from "./diff-far.js";
import { onPage } from "./page.js";

const MARGIN = "1500px 0px";
const AT_ONCE = 2;
const LINE = 20; // pixels: --diff-row

const observers = new Map();
const wanted = new Map(); // placeholder -> pixels to the screen when it came near
let asking = 0;

function scroller(element) {
  for (let at = element.parentElement; at; at = at.parentElement) {
    if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  }
  return null;
}

function observe(later) {
  const root = scroller(later);
  if (!observers.has(root)) observers.set(root, new IntersectionObserver(seen, { root, rootMargin: MARGIN }));
  observers.get(root).observe(later);
}

function seen(entries) {
  for (const { target, isIntersecting, boundingClientRect: { top, bottom } } of entries) {
    if (!isIntersecting) wanted.delete(target);
    else if (!cut(target)) wanted.set(target, Math.max(top - innerHeight, -bottom, 0));
  }
  ask();
}

function prepare() {
  const fresh = [...document.querySelectorAll(".later:not([data-watched])")];
  for (const later of fresh) {
    later.dataset.watched = "";
    later.style.setProperty("--lines", later.dataset.to - later.dataset.from);
    later.style.setProperty("--heads", later.dataset.heads);
  }
  for (const table of new Set(fresh.map((later) => later.closest("table")))) measure(table);
  fresh.forEach(observe);
}

// A placeholder for many rows becomes some for a piece each.
function cut(later) {
  const [from, to, piece] = ["from", "to", "piece"].map((name) => Number(later.dataset[name]));
  if (to - from <= piece) return false;
  const heads = (later.dataset.each || "").split(",");
  const parts = [];
  for (let at = from; at < to; at += piece) {
    const part = later.cloneNode(true);
    const end = Math.min(at + piece, to);
    Object.assign(part.dataset, { from: at, to: end, heads: heads[parts.length] || 0 });
    delete part.dataset.each;
    delete part.dataset.watched;
    parts.push(part);
  }
  later.replaceWith(...parts);
  prepare();
  return true;
}

// How high a row is in this table, by those it has: long lines take more than one.
function measure(table) {
  if (table.dataset.measured) return;
  table.dataset.measured = "true";
  const rows = table.rows.length - table.querySelectorAll(".later").length;
  const height = table.querySelector(".later").getBoundingClientRect().top - table.getBoundingClientRect().top;
  if (rows > LINE) table.style.setProperty("--later-row", `${Math.max(height / rows, LINE)}px`);
}

function ask() {
  for (const later of wanted.keys()) if (!later.isConnected) wanted.delete(later);
  while (asking < AT_ONCE && wanted.size) {
    const [next] = [...wanted].reduce((best, other) => (other[1] < best[1] ? other : best));
    wanted.delete(next);
    asking += 1;
    load(next).finally(() => {
      asking -= 1;
      ask();
    });
  }
}

async function load(later) {
  delete later.dataset.failed;
  const { src, from, to } = later.dataset;
  const template = document.createElement("template");
  try {
    const answer = await fetch(`${src}${from}-${to}`, { headers: { "HX-Request": "true" }, redirect: "error" });
    if (!answer.ok) throw new Error(answer.statusText);
    template.innerHTML = await answer.text();
  } catch {
    later.dataset.failed = "";
    return;
  }
  if (!later.isConnected) return;
  const nodes = [...template.content.children];
  for (const observer of observers.values()) observer.unobserve(later);
  release(observe);
  later.replaceWith(...nodes);
  for (const node of nodes) {
    if (node.matches(".more")) node.toggleAttribute("data-open", later.hasAttribute("data-open"));
    window.htmx.process(node);
  }
  if (nodes.length) made.push({ later, nodes });
  document.dispatchEvent(new CustomEvent("diff:rows", { detail: nodes }));
}

for (const event of ["htmx:afterSwap", "diff:rows"]) document.addEventListener(event, prepare);
onPage(prepare);

const COMMENTED = "#review :is(table.reviewed td.num[data-n], [data-comment], [data-comment-cancel])";
document.addEventListener("click", async ({ target, shiftKey }) => {
  const pressed = target.closest?.(COMMENTED);
  if (pressed) (await import("./comments.js")).press(pressed, shiftKey);
});
