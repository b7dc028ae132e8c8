// A `<dialog>` that arrives in #dialog opens as a modal one, once the style sheet is there that it names (`data-sheet`),
// and what it does; [data-close] closes it, and so does a click beside it, as long as nothing was written in it.
import { unlessLeft } from "./escape.js";
import { addSheet } from "./sheet.js";

const box = document.getElementById("dialog");
const ACTS = { "fork-dialog": async () => (await import("./fork.js")).looked() }; // by style sheet

new MutationObserver(async () => {
  const dialog = box.querySelector("dialog:not([data-shown])");
  if (!dialog) return;
  dialog.dataset.shown = "";
  dialog.addEventListener("close", () => dialog.remove());
  if (dialog.dataset.sheet && !(await unlessLeft(dressed(dialog)))) dialog.remove();
  if (dialog.isConnected) dialog.showModal();
}).observe(box, { childList: true });

const dressed = ({ dataset: { sheet } }) => Promise.all([addSheet(sheet), ACTS[sheet]?.()]);

function isBeside(dialog, { clientX, clientY }) {
  const { left, right, top, bottom } = dialog.getBoundingClientRect();
  return clientX < left || clientX > right || clientY < top || clientY > bottom;
}

const isWritten = (dialog) =>
  [...dialog.querySelectorAll("input, textarea")].some((field) => field.value !== field.defaultValue || field.checked !== field.defaultChecked);

// A form that has done what the dialog is for.
document.addEventListener("htmx:afterRequest", ({ target, detail: { xhr } }) => {
  if (target.matches?.("form[data-closes]") && xhr.status >= 200 && xhr.status < 400) target.closest("dialog")?.close();
});

let pressed = null; // the dialog beside which the press began: a selection may end there
document.addEventListener("pointerdown", (event) => {
  pressed = event.target.matches?.("dialog") && isBeside(event.target, event) ? event.target : null;
});
document.addEventListener("click", (event) => {
  const dialog = event.target.closest("dialog");
  if (!dialog) return;
  const beside = event.target === dialog && pressed === dialog && isBeside(dialog, event);
  if (event.target.closest("[data-close]") || (beside && !isWritten(dialog))) dialog.close();
});
