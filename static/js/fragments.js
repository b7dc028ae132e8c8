// Applies fragments that the socket brings. Each carries hx-swap-oob as it would in an HTTP answer:
// "true" replaces the element with its id, "delete" removes it, "<swap>:#<id>" fills one. `page:arrives`
// shows them to whoever has something to fill in before they are seen.
import { isBusy } from "./busy.js";
import { carry, merge } from "./merge.js";
import { keepSelection } from "./selection.js";

// Returns whether more has changed than the text of an answer.
export function apply(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  document.dispatchEvent(new CustomEvent("page:arrives", { detail: template.content }));
  let changed = false;
  keepSelection(() => {
    for (const node of [...template.content.children]) changed = swap(node) || changed;
  });
  return changed;
}

// Makes elements the page lacks, in the order of their ids (ids rise with time).
export function ensure({ parent, id, html }) {
  const list = document.getElementById(parent);
  if (!list || document.getElementById(id) || isOlder(list, id)) return;
  const template = document.createElement("template");
  template.innerHTML = html.trim();
  const node = template.content.firstElementChild;
  const after = [...list.children].reverse().find((child) => child.id && child.id < id);
  if (after) after.after(node);
  else list.prepend(node);
  window.htmx.process(node);
}

// What lies before the messages of the page comes with them, when the person asks for older ones.
function isOlder(list, id) {
  return list.id === "messages" && id < list.firstElementChild?.id && !document.getElementById("older").hidden;
}

// What an element was last given. What comes again as it was changes nothing: a press, a selection, a word typed in it
// are not to be disturbed for that.
const given = new WeakMap();
// Except of these: that they come is what they tell.
const TELLS = "[hx-trigger*=load]";
// The newest of what came for elements that were busy, by id, and since when: not for ever.
const held = new Map();
const LONGEST = 5000;

function swap(node) {
  const [style, selector] = (node.getAttribute("hx-swap-oob") || "true").split(":#");
  const id = selector || node.id;
  const target = document.getElementById(id);
  if (!target) return false;
  if (style === "beforeend" || style === "innerHTML") return stream(style, target, node);
  const since = held.get(id)?.since ?? performance.now();
  held.delete(id);
  const html = node.outerHTML;
  if (given.get(target) === html && !node.matches(TELLS) && !node.querySelector(TELLS)) return false;
  if (isBusy(target) && performance.now() - since < LONGEST) {
    held.set(id, { node, since });
    return false;
  }
  node.removeAttribute("hx-swap-oob");
  if (style === "delete") target.remove();
  else replace(target, node);
  const now = document.getElementById(id);
  if (now) given.set(now, html);
  return true;
}

// Text that grows: what is around it is no longer what it was given as.
function stream(style, target, node) {
  for (let around = target; around; around = around.parentElement) given.delete(around);
  if (style === "beforeend") target.append(...node.childNodes);
  else target.replaceChildren(...node.childNodes);
  return !target.closest(".part");
}

// What waited is older than what the rows say now.
document.addEventListener("page:replaced", () => held.clear());
document.addEventListener("page:free", () => {
  const waiting = [...held.values()];
  keepSelection(() => waiting.forEach(({ node }) => swap(node)));
  if (held.size < waiting.length) document.dispatchEvent(new CustomEvent("page:changed"));
});
// An answer put in what is newer, unless it put in nothing.
for (const name of ["htmx:afterSwap", "htmx:oobAfterSwap"]) {
  document.addEventListener(name, ({ detail, type }) => {
    if (type === "htmx:afterSwap" && swapOf(detail) === "none") return;
    given.delete(detail.target);
    held.delete(detail.target.id);
  });
}

const swapOf = ({ etc, requestConfig }) => etc?.swapOverride ?? requestConfig?.elt.closest("[hx-swap]")?.getAttribute("hx-swap");

// Where the person is stays focused; a title that is being written is left alone.
export function replace(target, node) {
  if (target.matches(".renaming")) return;
  if (target.matches("[data-merge]")) return merge(target, node);
  const focused = placeOf(document.activeElement, target);
  if (target.matches("details[open]")) node.setAttribute("open", "");
  carry(target, node);
  target.replaceWith(node);
  window.htmx.process(node);
  focused()?.focus({ preventScroll: true });
}

// How an element within `target` is found again once something has taken that one's place: by its id, or where it stands
// among as many of its kind in what is nearest around it and has an id.
export function placeOf(element, target) {
  if (!target.contains(element)) return () => null;
  const around = element.closest("[id]");
  const { id } = around && target.contains(around) ? around : target;
  if (element.id) return () => document.getElementById(id);
  const alike = () => [...(document.getElementById(id)?.querySelectorAll(element.tagName) ?? [])];
  const before = alike();
  return () => (alike().length === before.length ? alike()[before.indexOf(element)] : null);
}
