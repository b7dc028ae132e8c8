// The review panel: answers are merged into it, its controls and verdicts work by delegation.
import "./review-load.js";
import "./review-tree.js";
import "./review-verdicts.js";
import "./review-wide.js";
import "./review-keys.js";
import { isOpen, merge, unfold } from "./review-merge.js";
import { chooseReading, chooseScope, panel } from "./review-state.js";

// A list that was asked for before a verdict was given does not know of it; the next one is on its way.
const asked = new WeakMap();
let given = 0;
document.addEventListener("htmx:beforeRequest", ({ detail }) => asked.set(detail.xhr, given));

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target !== panel || detail.isError || !detail.shouldSwap) return;
  detail.shouldSwap = false;
  if (detail.requestConfig.verb === "post") given += 1;
  else if (asked.get(detail.xhr) !== given && detail.serverResponse.includes("data-whole")) return;
  merge(detail.serverResponse);
  measure();
});

panel.addEventListener("change", ({ target }) => {
  if (target.name === "view") chooseReading("view", target.value);
  if (target.name === "w") chooseReading("space", target.checked ? "1" : "0");
  if (target.id !== "review-scope") return;
  const { message, part } = target.selectedOptions[0].dataset;
  chooseScope(target.value, message, part).then(() => (panel.scrollTop = 0));
});

panel.addEventListener("submit", (event) => {
  if (event.target.id === "review-form") event.preventDefault();
});

panel.addEventListener("click", (event) => {
  const fold = event.target.closest("[data-fold]");
  if (fold) unfold(fold.closest(".file"), !isOpen(fold.closest(".file")));
});

panel.addEventListener("review:open", (event) => unfold(event.target, true));

// Heads of files stick below the head of the panel.
function measure() {
  const head = panel.querySelector(".review-head");
  if (head) panel.style.setProperty("--review-head", `${head.offsetHeight}px`);
}
new ResizeObserver(measure).observe(panel);
