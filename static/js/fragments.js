// Applies fragments that the socket brings. Each carries hx-swap-oob as it would in an HTTP answer:
// "true" replaces the element with its id, "delete" removes it, "<swap>:#<id>" fills one. `page:arrives`
// shows them to whoever has something to fill in before they are seen.
import { carry, merge } from "./merge.js";
import { keepSelection } from "./selection.js";

export function apply(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  document.dispatchEvent(new CustomEvent("page:arrives", { detail: template.content }));
  keepSelection(() => [...template.content.children].forEach(swap));
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

function swap(node) {
  const [style, selector] = (node.getAttribute("hx-swap-oob") || "true").split(":#");
  node.removeAttribute("hx-swap-oob");
  const target = document.getElementById(selector || node.id);
  if (!target) return;
  if (style === "delete") target.remove();
  else if (style === "beforeend") target.append(...node.childNodes);
  else if (style === "innerHTML") fill(target, node);
  else replace(target, node);
}

function fill(target, node) {
  target.replaceChildren(...node.childNodes);
  window.htmx.process(target);
}

// What the person opened stays open (with what it shows until that is loaded anew), and where they are
// stays focused; what an element holds that is renewed apart from it stays in it; a title that is being written is left alone.
export function replace(target, node) {
  if (target.matches(".renaming")) return;
  if (target.matches("[data-merge]")) return merge(target, node);
  for (const open of target.querySelectorAll("details[open][id]")) {
    const fresh = node.querySelector(`#${CSS.escape(open.id)}`);
    if (!fresh) continue;
    fresh.setAttribute("open", "");
    fresh.querySelector(".lazy")?.replaceChildren(...(open.querySelector(".lazy")?.childNodes ?? []));
  }
  for (const held of target.querySelectorAll("[data-holds]")) {
    const fresh = node.querySelector(`#${CSS.escape(held.id)}:empty`);
    fresh?.replaceChildren(...held.childNodes);
  }
  if (target.matches("details[open]")) node.setAttribute("open", "");
  const focused = target.contains(document.activeElement) ? document.activeElement.id : "";
  carry(target, node);
  target.replaceWith(node);
  window.htmx.process(node);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}
