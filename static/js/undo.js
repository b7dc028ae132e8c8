// The dialog of an undo: how many files are chosen, all or none of them, and what the choice leaves to do.
import { gettext, interpolate, ngettext } from "./words.js";

function boxes(form) {
  return [...form.querySelectorAll("[name=path]")];
}

function chosen(form) {
  return form.querySelector("[name=what]:checked")?.value ?? "files";
}

const of = (checked, count) => interpolate(ngettext("%(checked)s of %(count)s file", "%(checked)s of %(count)s files", count), { checked, count });

function show(form) {
  const all = boxes(form);
  const checked = all.filter((box) => box.checked).length;
  const what = chosen(form);
  const files = form.querySelector("[data-files]");
  if (files) {
    files.disabled = what === "conversation";
    files.querySelector(".undo-count").hidden = !all.length;
    files.querySelector("[data-count]").textContent = what === "conversation" ? gettext("Files stay as they are") : of(checked, all.length);
  }
  form.querySelector(".primary").disabled = what === "files" && all.length > 0 && !checked;
}

document.addEventListener("change", (event) => {
  const form = event.target.closest(".undo-dialog form");
  if (form) show(form);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest(".undo-dialog [data-all], .undo-dialog [data-none]");
  if (!button) return;
  const form = button.closest("form");
  for (const box of boxes(form)) box.checked = button.matches("[data-all]");
  show(form);
});

// Boxes at their places: Up and Down go from file to file.
document.addEventListener("keydown", (event) => {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || !event.target.matches(".undo-dialog [name=path]")) return;
  event.preventDefault();
  const all = boxes(event.target.form);
  all[all.indexOf(event.target) + by]?.focus();
});

new MutationObserver(() => {
  const form = document.querySelector("#dialog .undo-dialog form:not([data-counted])");
  if (!form) return;
  form.dataset.counted = "";
  show(form);
}).observe(document.getElementById("dialog"), { childList: true });
