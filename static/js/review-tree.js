// The tree of the review's files: a filter by name, jumps, the file in sight; a drop-down where there is no room.
import { onPage } from "./page.js";
import { unfold } from "./review-merge.js";
import { panel } from "./review-state.js";

const closed = new Set();
onPage(() => {
  closed.clear();
});

function jump(id) {
  const file = document.getElementById(id);
  if (!file) return;
  drop(false);
  unfold(file, true);
  file.scrollIntoView({ block: "start" });
  file.querySelector("[data-fold]").focus({ preventScroll: true });
  file.addEventListener("review:shown", () => requestAnimationFrame(() => file.isConnected && file.scrollIntoView({ block: "start" })), { once: true });
}

function drop(open) {
  panel.toggleAttribute("data-tree-open", open);
  panel.querySelector("[data-tree]")?.setAttribute("aria-expanded", String(open));
}

function filter() {
  const wanted = (panel.querySelector("#review-filter")?.value || "").trim().toLowerCase();
  for (const row of panel.querySelectorAll(".tree-file")) row.hidden = !row.dataset.name.toLowerCase().includes(wanted);
  for (const folder of [...panel.querySelectorAll(".tree-folder")].reverse()) {
    folder.hidden = Boolean(wanted) && !folder.querySelector(".tree-file:not([hidden])");
    const details = folder.firstElementChild;
    details.open = wanted ? !folder.hidden : !closed.has(details.dataset.folder);
  }
}

let due = false;
function follow() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    const box = panel.querySelector("#review-files")?.getBoundingClientRect();
    if (!box || !panel.querySelector("#review-tree")?.offsetParent) return;
    const top = panel.querySelector(".review-head").getBoundingClientRect().bottom;
    const file = focused(top) || document.elementFromPoint(box.left + 40, top + 24)?.closest(".file");
    if (!file) return;
    panel.querySelector("[data-jump][aria-current]")?.removeAttribute("aria-current");
    const row = panel.querySelector(`[data-jump="${file.id}"]`);
    row?.setAttribute("aria-current", "true");
    if (row) bring(row, panel.querySelector("#review-tree"));
  });
}

// The file somebody is at, as long as it is in sight.
function focused(top) {
  const file = document.activeElement.closest("#review .file");
  const box = file?.getBoundingClientRect();
  return box && box.bottom > top && box.top < innerHeight ? file : null;
}

function bring(row, tree) {
  const [inner, outer] = [row, tree].map((element) => element.getBoundingClientRect());
  if (inner.top < outer.top || inner.bottom > outer.bottom) tree.scrollTop += inner.top - outer.top - outer.height / 2;
}

panel.addEventListener("click", (event) => {
  const row = event.target.closest("[data-jump]");
  if (row) jump(row.dataset.jump);
  const button = event.target.closest("[data-tree]");
  if (button) drop(button.getAttribute("aria-expanded") !== "true");
  const summary = event.target.closest(".tree-folder summary");
  if (summary) closed[summary.parentElement.open ? "add" : "delete"](summary.parentElement.dataset.folder);
});
panel.addEventListener("input", (event) => event.target.id === "review-filter" && filter());
panel.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !panel.hasAttribute("data-tree-open")) return;
  event.preventDefault();
  drop(false);
  panel.querySelector("[data-tree]").focus();
});
panel.addEventListener("review:renewed", () => {
  drop(panel.hasAttribute("data-tree-open"));
  filter();
  follow();
});
panel.addEventListener("scroll", follow, { passive: true });
panel.addEventListener("focusin", follow);
