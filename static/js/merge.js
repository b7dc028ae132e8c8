// Lists whose elements are answered in place ([data-merge]): one that comes again with the same id and the same
// data-version stays as it is, with what was typed, chosen and opened in it, and where the keyboard is.
import { arrive } from "./motion.js";

export function merge(list, fresh) {
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  const nodes = [...fresh.children];
  const first = !list.childElementCount;
  const wanted = new Map(nodes.map((node) => [node.id, node]));
  for (const child of [...list.children]) {
    const node = wanted.get(child.id);
    if (node && node.dataset.version === child.dataset.version) continue;
    if (node) carry(child, node);
    child.dispatchEvent(new CustomEvent("merge:gone", { bubbles: true }));
    child.remove();
  }
  let place = list.firstElementChild;
  for (const node of nodes) {
    const kept = [...list.children].find((child) => child.id === node.id);
    if (kept && kept === place) place = place.nextElementSibling;
    else list.insertBefore(kept || node, place);
    if (kept) within(kept, node);
    else window.htmx.process(node);
    if (!kept && !first) arrive(node);
  }
  // What is moved into what takes its place loses it.
  if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true });
}

// What goes over into what takes an element's place; lists first, as what is in them may stay.
export function carry(target, node) {
  const counterpart = ({ id }, state = "") => id && node.querySelector(`#${CSS.escape(id)}${state}`);
  for (const list of target.querySelectorAll("[data-merge]")) {
    const fresh = counterpart(list);
    if (!fresh || fresh === list) continue;
    merge(list, fresh);
    fresh.replaceWith(list);
  }
  for (const open of target.querySelectorAll("details[open][id]")) {
    const fresh = counterpart(open);
    fresh?.setAttribute("open", "");
    fresh?.querySelector(".lazy")?.replaceChildren(...(open.querySelector(".lazy")?.childNodes ?? []));
  }
  for (const held of target.querySelectorAll("[data-holds]")) counterpart(held, ":empty")?.replaceChildren(...held.childNodes);
  for (const kept of target.querySelectorAll("[data-keep]")) counterpart(kept)?.replaceWith(kept);
}

function within(kept, node) {
  for (const list of kept.querySelectorAll("[data-merge]")) {
    const fresh = node.querySelector(`#${CSS.escape(list.id)}`);
    if (fresh) merge(list, fresh);
  }
}
