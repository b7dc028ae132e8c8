// Keys and buttons of the terminals. What is typed in one is no shortcut of the page.

// Ctrl+` shows and hides them.
export function isSwitch(event) {
  return event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey && event.code === "Backquote";
}

// Shift+F6 leaves a terminal, which takes Tab for itself.
export function isLeave(event) {
  return event.shiftKey && event.key === "F6";
}

// `on` has leave(), move(tab, step), select(tab), rename(tab), close(tab) and one for each data-terminal-do.
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
  if (isSwitch(event)) return;
  event.stopPropagation();
  if (!isLeave(event)) return;
  event.preventDefault();
  on.leave();
}

function outside(event, on) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const tab = event.target.closest(".terminal-tab");
  if (step) on.move(tab, step);
  else if (event.key === "F2") on.rename(tab);
  else if (event.key === "Delete") on.close(tab);
  else return;
  event.preventDefault();
}
