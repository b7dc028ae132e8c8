// Places of a text in the conversation: found also where it goes on from one element into the next, as in code that is
// coloured, drawn by the CSS Custom Highlight API, and gone to.
import { showTurn } from "./fold-turns.js";

const MOST = 2000;
const PARTS = "#messages > .message:not(.reverted) > .parts > *";

// Gives a function that draws ranges as `::highlight(name)`, and those before no longer.
export function highlight(name, priority = 0) {
  const marks = window.CSS?.highlights ? new window.Highlight() : null;
  if (!marks) return () => {};
  marks.priority = priority;
  CSS.highlights.set(name, marks);
  return (ranges) => {
    marks.clear();
    for (const range of ranges) marks.add(range);
  };
}

// In what the page has of the conversation; `spans(text)` gives where a text has it, as [start, end]s.
export function find(spans) {
  const found = [];
  for (const part of document.querySelectorAll(PARTS)) {
    for (const range of within(part, spans)) if (found.push(range) === MOST) return found;
  }
  return found;
}

function* within(element, spans) {
  const nodes = [];
  let text = "";
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    nodes.push([text.length, walker.currentNode]);
    text += walker.currentNode.data;
  }
  let number = 0;
  const place = (index) => {
    while (number + 1 < nodes.length && nodes[number + 1][0] < index) number += 1;
    return [nodes[number][1], index - nodes[number][0]];
  };
  for (const [start, end] of spans(text)) {
    const range = new Range();
    while (number + 1 < nodes.length && nodes[number + 1][0] <= start) number += 1;
    range.setStart(...place(start));
    range.setEnd(...place(end));
    yield range;
  }
}

export function goTo({ startContainer: { parentElement: element } }) {
  if (!element.checkVisibility()) showTurn(element);
  for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  document.dispatchEvent(new CustomEvent("page:jumped"));
  element.scrollIntoView({ block: "center" });
}

export function unfold(part) {
  if (!part.checkVisibility()) showTurn(part);
  for (const fold of [part, ...part.querySelectorAll("details")]) if (fold.matches("details")) fold.open = true;
}
