// While the panel is renewed the keyboard stays where it is, and what is in sight stays in sight.
import { judged, panel } from "./review-state.js";
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
  const sight = element && { ...nameOf(element), top: element.getBoundingClientRect().top };
  return () => {
    const now = sight && found(sight)?.getBoundingClientRect().top;
    if (now !== undefined && sight) panel.scrollTop += now - sight.top;
  };
}

// A hunk is named by what it is: its place may be another's after the next edit.
function nameOf(element) {
  const hunk = element.dataset.hunk;
  return hunk === undefined ? { id: element.id } : { file: element.closest(".file").id, hunk, id: element.id };
}

function found({ file, hunk, id }) {
  if (hunk === undefined) return document.getElementById(id);
  return document.getElementById(file)?.querySelector(`[data-hunk="${CSS.escape(hunk)}"]`);
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
  return { element, id: element.id, within: within && nameOf(within), file: within?.closest(".file").id, hunk, action };
}

function refocus({ element, id, within, file, hunk, action }) {
  if (document.activeElement === element) return;
  if (element.isConnected && panel.contains(element)) return element.focus({ preventScroll: true });
  const fold = file && document.getElementById(file)?.querySelector("[data-fold]");
  const head = () => (id && document.getElementById(id)) || (action && within && found(within)?.querySelector(`.file-head ${action}`));
  const now = (hunk ? hunkNow(within, id, action) : head()) || fold;
  (now?.checkVisibility() ? now : fold)?.focus({ preventScroll: true });
}

// Where the person judged a hunk and it went for that, the keyboard goes on at what took its place; where it went
// otherwise, at no other: the next key would be meant for what is gone.
function hunkNow(within, id, action) {
  const same = found(within);
  if (!same) return judged.has(within.hunk) ? document.getElementById(within.id) : null;
  return (id && same.querySelector(`#${CSS.escape(id)}`)) || (action && same.querySelector(action)) || same;
}
