// While the panel is renewed the keyboard stays where it is, and what is in sight stays in sight.
import { panel } from "./review-state.js";
import { dirty } from "./review-typing.js";

// Call what it returns once the renewal is done.
export function keepPlace() {
  const [focus, restore] = [remember(), stay(atTop())];
  return () => {
    refocus(focus);
    restore();
  };
}

// The same where only the room for the panel changes: then the hunk or file somebody is at stays in sight.
export function keepSight() {
  const here = document.activeElement.closest("#review [data-hunk], #review .file");
  const box = here?.getBoundingClientRect();
  return stay(box && box.bottom > 0 && box.top < innerHeight ? here : atTop());
}

function stay(element) {
  const sight = element && { id: element.id, top: element.getBoundingClientRect().top };
  return () => {
    const now = sight && document.getElementById(sight.id)?.getBoundingClientRect().top;
    if (now !== undefined && sight) panel.scrollTop += now - sight.top;
  };
}

// What stands at the top of the panel: it stays there, whatever comes or goes above it.
function atTop() {
  const head = panel.querySelector(".review-head")?.getBoundingClientRect();
  const list = panel.querySelector("#review-files")?.getBoundingClientRect();
  return head && document.elementFromPoint(list.left + list.width / 2, head.bottom + 60)?.closest("#review .file, #review [data-hunk]");
}

// Where the keyboard is: the element, and how to find what takes its place.
function remember() {
  const element = document.activeElement;
  if (!panel.contains(element) || dirty(element)) return { element };
  const hunk = element.closest("[data-hunk]");
  const within = hunk || element.closest(".file");
  const action = element.dataset.do && `[data-do="${element.dataset.do}"]`;
  return { element, id: element.id, within: within?.id, hunk: Boolean(hunk), action };
}

function refocus({ element, id, within, hunk, action }) {
  if (document.activeElement === element) return;
  if (element.isConnected && panel.contains(element)) return element.focus({ preventScroll: true });
  const place = within && document.getElementById(within);
  const fold = place?.closest(".file").querySelector("[data-fold]");
  const found = (id && document.getElementById(id)) || (hunk ? place : place?.querySelector(`.file-head ${action}`)) || fold;
  (found?.checkVisibility() ? found : fold)?.focus({ preventScroll: true });
}
