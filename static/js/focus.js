// Who had the focus on something that is gone goes on in the prompt. A click beside everything gives the focus up,
// and nobody is brought back from that; the review has keys of its own that work without it.

const hasKeyboard = matchMedia("(pointer: fine)"); // elsewhere the prompt would bring up the one on the screen
let held = false;

document.addEventListener("focusin", ({ target }) => {
  held = !target.closest("#review");
});
document.addEventListener("pointerdown", () => {
  held = false;
}, true);

function look() {
  if (!held || document.activeElement !== document.body || document.querySelector("dialog[open]")) return;
  document.getElementById(hasKeyboard.matches ? "prompt" : "scroller").focus({ preventScroll: true });
}

// Those who know a better place come first. What is hidden loses the focus only when the page has been drawn.
function soon() {
  if (!held) return;
  requestAnimationFrame(() => {
    look();
    requestAnimationFrame(look);
  });
}
for (const event of ["page:changed", "page:grown", "htmx:afterSettle"]) document.addEventListener(event, soon);
document.addEventListener("close", soon, true);
