// Menus (`<details class="menu">`) close on a choice, on a click elsewhere and on Esc; arrows move in them.
import { composes } from "./ime.js";

function close(menu, focus) {
  menu.open = false;
  if (focus) menu.querySelector("summary").focus();
}

document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target) || event.target.closest(".menu-items button")) close(menu);
  }
});

document.addEventListener("keydown", (event) => {
  const menu = event.target.closest("details.menu[open]");
  if (!menu) return cancelRename(event);
  const items = [...menu.querySelectorAll(".menu-items button")];
  const at = items.indexOf(document.activeElement);
  if (event.key === "Escape") close(menu, true);
  else if (event.key === "ArrowDown") items[(at + 1) % items.length].focus();
  else if (event.key === "ArrowUp") items.at(at - 1).focus();
  else return;
  event.preventDefault();
});

function cancelRename(event) {
  if (event.key !== "Escape" || composes(event) || !event.target.closest(".renaming")) return;
  event.preventDefault();
  event.target.closest(".renaming").querySelector("[data-cancel]").click();
}

document.addEventListener("htmx:afterSwap", () => {
  const field = document.querySelector("input[data-select]:not([data-selected])");
  if (!field) return;
  field.dataset.selected = "";
  field.focus();
  field.select();
});
