// Menus that lie over the page (popovers with role=menu): arrow keys move in them, and a choice, Tab and Esc give the
// focus back.
const EDGE = 8; // pixels between a menu and the edge of the window
const backs = new WeakMap(); // by menu

const items = (menu) => [...menu.querySelectorAll("[role=menuitem]")].filter((item) => !item.hidden);

// With its corner there, or where it has room; `back()` gives what has the focus afterwards.
export function openMenu(menu, { x, y }, back) {
  if (!backs.has(menu)) wire(menu);
  backs.set(menu, back);
  menu.showPopover();
  const { width, height } = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(EDGE, Math.min(x, innerWidth - width - EDGE))}px`;
  menu.style.top = `${Math.max(EDGE, Math.min(y, innerHeight - height - EDGE))}px`;
  items(menu)[0].focus();
}

function wire(menu) {
  menu.addEventListener("click", (event) => event.target.closest("[role=menuitem]") && close(menu));
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Tab") return close(menu);
    const shown = items(menu);
    const at = shown.indexOf(document.activeElement);
    const to = { ArrowDown: (at + 1) % shown.length, ArrowUp: (at - 1 + shown.length) % shown.length, Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    shown[to].focus();
  });
  menu.addEventListener("toggle", ({ newState }) => {
    const isFree = menu.contains(document.activeElement) || document.activeElement === document.body;
    if (newState === "closed" && isFree) backs.get(menu)()?.focus();
  });
}

function close(menu) {
  if (menu.matches(":popover-open")) menu.hidePopover();
}
