// What must not be replaced under a person's hands: what is being pressed, and what waits for its answer. A click on
// what was replaced in between goes nowhere, and so does the answer to a button that is gone.
const LONGEST = 5000; // what is held down for longer, and not dragged, holds nothing up
const asking = new Map(); // from requests: htmx names another element when the first one is gone
let pressed = null;
let dragging = false;

export const isBusy = (element) =>
  Boolean(pressed && element.contains(pressed)) || [...asking.values()].some((one) => element.contains(one));

export const isPressed = (within) => Boolean(pressed && within.contains(pressed));

// Told once nothing that was busy is so any longer; the click has been dispatched by then.
const free = () => document.dispatchEvent(new CustomEvent("page:free"));

// Now, or when what is pressed has been let go: nothing moves away from under the pointer in between.
export function whenFree(act) {
  if (!pressed) return act();
  const timer = setTimeout(() => dragging || go(), LONGEST);
  document.addEventListener("page:free", go);
  function go() {
    clearTimeout(timer);
    document.removeEventListener("page:free", go);
    act();
  }
}

const CONTROLS = "a, button, input, label, select, summary, textarea, [draggable=true], [role=option], [role=treeitem]";
const press = (element) => (pressed = element.closest?.(CONTROLS));

// A drag takes the pointer away (`pointercancel`) and holds what it has begun with all the same.
function release({ type }) {
  if (dragging && type === "pointercancel") return;
  dragging = false;
  if (!pressed) return;
  setTimeout(() => {
    pressed = null;
    free();
  });
}

document.addEventListener("dragstart", () => (dragging = true), true);
document.addEventListener("pointerdown", ({ target, isPrimary }) => isPrimary && press(target), true);
for (const name of ["pointerup", "pointercancel", "dragend"]) document.addEventListener(name, release, true);
// A space presses a button until it is let go.
document.addEventListener("keydown", ({ key, target }) => key === " " && target.matches?.("button, summary, [type=checkbox], [type=radio]") && press(target), true);
document.addEventListener("keyup", (event) => event.key === " " && release(event), true);
window.addEventListener("blur", release);

document.addEventListener("htmx:beforeSend", ({ detail: { xhr, elt, requestConfig } }) => {
  if (requestConfig.verb !== "get") asking.set(xhr, elt);
  const answered = xhr.onload;
  xhr.onload = () => whenFree(answered);
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (asking.delete(detail.xhr)) setTimeout(free); // after its answer was put in
});
