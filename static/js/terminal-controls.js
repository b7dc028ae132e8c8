// Keys and buttons of the terminals. What is typed in one is no shortcut of the page.
import { isPressed } from "./shortcuts.js";

// Those that are not typed into a terminal, which takes Tab for itself.
const OURS = ["terminals", "terminal-leave", "terminal-paths"];
export const isOurs = (event) => OURS.some((name) => isPressed(name, event));

// `on` has leave(), paths(), move(tab, step), select(tab), rename(tab), close(tab) and one for each data-terminal-do.
export function controls(panel, on) {
  panel.addEventListener("keydown", (event) => {
    if (event.target.closest(".terminal-screen")) inside(event, on);
    else if (event.target.matches("[role=tab]")) outside(event, on);
  });
  panel.addEventListener("click", ({ target }) => {
    const tab = target.closest(".terminal-tab");
    if (tab && target.closest(".terminal-close")) on.close(tab);
    else if (tab && target.closest("[role=tab]")) on.select(tab);
    on[target.closest("[data-terminal-do]")?.dataset.terminalDo]?.();
  });
}

function inside(event, on) {
  if (isPressed("terminals", event)) return;
  event.stopPropagation();
  const act = isPressed("terminal-leave", event) ? on.leave : isPressed("terminal-paths", event) ? on.paths : null;
  if (!act) return;
  event.preventDefault();
  act();
}

function outside(event, on) {
  const tab = event.target.closest(".terminal-tab");
  if (isPressed("terminal-left", event)) on.move(tab, -1);
  else if (isPressed("terminal-right", event)) on.move(tab, 1);
  else if (isPressed("terminal-rename", event)) on.rename(tab);
  else if (isPressed("terminal-close", event)) on.close(tab);
  else return;
  event.preventDefault();
}
