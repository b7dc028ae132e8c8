// The second click of a double click is meant for what the first one hit. Where that has made room for another
// control, such as one that takes it back, the second click does nothing. Two quick taps count as one double tap even
// far apart: only what comes at the same place is meant here.
const CONTROLS = "a, button, label, summary, input, select, [role=button], [role=option], [role=tab], [role=menuitem]";
const REACH = 12; // pixels that a hand trembles between both halves

let hit = null; // held weakly: with it stays all of a list that it was part of
let id = "";
let place = { clientX: 0, clientY: 0 };

function controlAt(target) {
  const found = target.closest?.(CONTROLS) ?? null;
  return found?.control ?? found; // of a label: what it stands for
}

const isSame = (control) => control === hit?.deref() || (control.id && control.id === id);
const isThere = (event) => Math.hypot(event.clientX - place.clientX, event.clientY - place.clientY) <= REACH;

document.addEventListener("click", (event) => {
  const control = controlAt(event.target);
  if (event.detail > 1 && control && !isSame(control) && isThere(event)) {
    event.preventDefault();
    event.stopImmediatePropagation();
    return;
  }
  if (event.detail === 0) return; // a key's
  hit = control && new WeakRef(control);
  id = control?.id;
  place = { clientX: event.clientX, clientY: event.clientY };
}, true);
