// A page that stands open for hours stays small: while the person is at its end, the oldest messages leave it.
// "Show older messages" brings them back.
import { isFollowing } from "./scroll.js";

const KEPT = 60;
const SLACK = 24; // a page of history: what was just asked for is not forgotten at once

const scroller = document.getElementById("scroller");

function forget() {
  const list = document.getElementById("messages");
  const older = document.getElementById("older");
  if (!list || list.childElementCount <= KEPT + SLACK || !isFollowing() || older.matches(".htmx-request")) return;
  const first = firstToKeep([...list.children]);
  const range = new Range();
  range.setStartBefore(list.firstElementChild);
  range.setEndBefore(first);
  if (range.collapsed) return;
  range.deleteContents();
  const node = before(first.id, older);
  older.replaceWith(node);
  window.htmx.process(node);
  scroller.scrollTop = scroller.scrollHeight;
}

// Also what is less than a screen away, and what the person is in.
function firstToKeep(messages) {
  const edge = scroller.getBoundingClientRect().top - scroller.clientHeight;
  const selection = getSelection();
  const held = (message) =>
    message.contains(document.activeElement) ||
    (!selection.isCollapsed && selection.containsNode(message, true)) ||
    message.getBoundingClientRect().bottom > edge;
  return messages.slice(0, -KEPT).find(held) ?? messages.at(-KEPT);
}

function before(id, older) {
  const node = older.cloneNode(true);
  const { base } = document.getElementById("composer").dataset;
  node.hidden = false;
  node.setAttribute("hx-get", `${base}/messages?before=${id}`);
  return node;
}

document.addEventListener("page:changed", forget);
