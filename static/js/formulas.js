// Formulas are drawn by KaTeX, which writes styles as properties: the policy leaves those to scripts. What it does not
// understand stays as it was written. A copy has the source.
import { render } from "../vendor/katex/katex.mjs";
import { addSheet } from "./sheet.js";

addSheet("../vendor/katex/katex.min");
addSheet("formulas");

const FORM = /^(\$\$?|\\[([])([^]*?)(?:\$\$?|\\[)\]])$/;
// Sizes in em. A formula cannot name an address, run on, or define anything for the next one.
const BOUNDS = { trust: refuse, strict: "ignore", maxSize: 20, maxExpand: 500 };

function refuse({ command }) {
  throw new Error(`${command} is not allowed here`);
}

function show(place) {
  const source = place.textContent;
  const [, opening, tex] = FORM.exec(source) ?? [];
  place.dataset.source = source;
  if (!opening) return;
  try {
    render(tex, place, { ...BOUNDS, displayMode: opening === "$$" || opening === "\\[" });
  } catch (error) {
    place.textContent = source;
    place.title = error.message;
  }
}

export function draw(within) {
  for (const place of within.querySelectorAll(".formula:not([data-source])")) show(place);
}

const around = (node) => (node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement)?.closest(".formula");

document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (selection.isCollapsed || event.defaultPrevented || event.target.closest?.("input, textarea")) return;
  const range = selection.getRangeAt(0).cloneRange();
  const [first, last] = [around(range.startContainer), around(range.endContainer)];
  if (first) range.setStartBefore(first);
  if (last && range.endOffset) range.setEndAfter(last);
  else if (last) range.setEndBefore(last); // three clicks select up to what comes next
  const copied = range.cloneContents();
  const drawn = copied.querySelectorAll(".formula[data-source]");
  if (!drawn.length) return;
  for (const place of drawn) place.replaceChildren(place.dataset.source);
  const box = document.createElement("div");
  box.append(copied);
  event.clipboardData.setData("text/plain", box.textContent);
  event.clipboardData.setData("text/html", box.innerHTML);
  event.preventDefault();
});
