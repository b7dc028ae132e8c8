// Puts an answer into the panel piece by piece: what is the same stays as it is, with its diffs, the place scrolled
// to and what is being typed; what is another takes the place of the one with its id.
import { onPage } from "./page.js";
import { panel } from "./review-state.js";
import { keepPlace } from "./review-place.js";
import { carry } from "./review-typing.js";

const served = new Map();
const SINGLE = ["review-title", "review-form", "review-bar", "review-progress", "review-tree-list"];
onPage(() => {
  served.clear();
});

export function merge(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const fresh = template.content;
  const restore = keepPlace();
  if (!fresh.querySelector("[data-whole]")) parts(fresh);
  else if (alike(fresh)) whole(fresh);
  else fill(fresh);
  restore();
  if (stop(panel)) import("./tour.js");
  document.dispatchEvent(new CustomEvent("diff:rows", { detail: [panel] }));
  panel.dispatchEvent(new CustomEvent("review:renewed", { bubbles: true }));
}

// The page has it from the start, and the socket keeps it: an answer may be older.
const plan = () => panel.querySelector("#plan");

const stop = (place) => place.querySelector("#review-tour")?.dataset.number;

function alike(fresh) {
  return stop(panel) === stop(fresh) && ["#review-files", "#review-tree"].every((id) => Boolean(panel.querySelector(id)) === Boolean(fresh.querySelector(id)));
}

function fill(fresh) {
  const held = plan();
  const focused = held.contains(document.activeElement) && document.activeElement;
  fresh.getElementById("plan").replaceWith(held);
  const nodes = [...fresh.children];
  for (const node of fresh.querySelectorAll("[id]")) served.set(node.id, node.matches(".file") ? "" : node.outerHTML);
  panel.replaceChildren(...nodes);
  for (const node of nodes) window.htmx.process(node);
  if (focused) focused.focus({ preventScroll: true });
  panel.querySelectorAll(".file").forEach(shown);
}

function whole(fresh) {
  for (const id of SINGLE) {
    const node = fresh.getElementById(id);
    if (node) single(document.getElementById(id), node);
  }
  const list = panel.querySelector("#review-files");
  const have = new Map([...list.children].map((child) => [child.id, child]));
  let place = list.firstElementChild;
  for (const node of [...fresh.getElementById("review-files").children]) {
    const old = have.get(node.id);
    have.delete(node.id);
    const here = old ? one(old, node) : node;
    place = old === place ? here.nextElementSibling : place;
    if (!old) list.insertBefore(node, place), window.htmx.process(node), shown(node);
    else if (here.nextElementSibling !== place) list.insertBefore(here, place);
  }
  for (const gone of have.values()) gone.remove();
}

// The answer to a verdict or to files that came into view.
function parts(fresh) {
  for (const node of [...fresh.children]) {
    const old = node.id && document.getElementById(node.id);
    if (node.matches(".toast")) toast(node);
    else if (!old) continue;
    else if (node.dataset.gone !== undefined) old.remove();
    else if (node.matches(".file")) file(old, node);
    else single(old, node);
  }
}

// The last verdict has the word.
function toast(node) {
  document.querySelector("#toasts [data-verdict]")?.remove();
  document.getElementById("toasts").append(node);
  window.htmx.process(node);
}

function one(old, node) {
  if (!node.matches(".file")) return single(old, node);
  return old.dataset.version === node.dataset.version ? old : file(old, node);
}

function single(old, node) {
  const html = node.outerHTML;
  if (!old || old === plan() || served.get(node.id) === html) return old;
  served.set(node.id, html);
  old.replaceWith(node);
  window.htmx.process(node);
  return node;
}

function file(old, node) {
  if (node.dataset.open === old.dataset.open) unfold(node, isOpen(old));
  const [was, is] = [old, node].map((one) => one.querySelector(".file-body"));
  const loaded = !was.hasAttribute("data-lazy") || was.hasAttribute("data-late");
  const later = is.hasAttribute("data-lazy");
  if (loaded && (later || !carry(was, is))) {
    is.replaceChildren(...was.childNodes);
    is.toggleAttribute("data-lazy", true);
    is.toggleAttribute("data-late", true);
  }
  // What is not drawn yet is as high as it was: else the files below come up for a frame.
  if (isOpen(node) === isOpen(old)) node.style.containIntrinsicSize = `auto ${old.offsetHeight}px`;
  old.replaceWith(node);
  window.htmx.process(node);
  shown(node);
  return node;
}

function shown(node) {
  if (node.matches(".file")) node.dispatchEvent(new CustomEvent("review:shown", { bubbles: true }));
}

export function isOpen(file) {
  return file.querySelector("[data-fold]").getAttribute("aria-expanded") === "true";
}

export function unfold(file, open) {
  file.querySelector("[data-fold]").setAttribute("aria-expanded", String(open));
}
