// Words half written in a question survive when the list of questions is renewed; the call that asks says
// so; whoever answered goes on at the prompt.

const states = document.getElementById("states");
const words = new Map();
const hasKeyboard = matchMedia("(pointer: fine)");
let answering = false;

states?.addEventListener("input", (event) => {
  if (event.target.matches("#permissions [data-keep]")) words.set(event.target.id, event.target.value);
});

function restore() {
  for (const field of states.querySelectorAll("#permissions [data-keep]")) {
    if (!field.value && words.has(field.id)) field.value = words.get(field.id);
  }
  mark();
  if (!answering || document.activeElement !== document.body) return;
  answering = false;
  if (hasKeyboard.matches) document.getElementById("prompt").focus({ preventScroll: true });
}

function mark() {
  const asking = new Set([...document.querySelectorAll(".permission")].map((question) => question.dataset.call));
  for (const card of document.querySelectorAll(".tool")) {
    card.toggleAttribute("data-waiting", asking.has(card.dataset.call));
  }
}

document.addEventListener("focusin", (event) => {
  answering = Boolean(event.target.closest("#permissions"));
});

if (states) {
  new MutationObserver(restore).observe(states, { childList: true, subtree: true });
  for (const event of ["page:changed", "page:replaced"]) document.addEventListener(event, mark);
  mark();
}
