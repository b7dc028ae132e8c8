// Who had the focus on something that is gone goes on in the prompt. A click beside everything gives the focus up,
// and nobody is brought back from that; the review has keys of its own that work without it.

const hasKeyboard = matchMedia("(pointer: fine)"); // elsewhere the prompt would bring up the one on the screen
let held = false;
let put = null; // what was given the focus here, and nothing has been done in it

document.addEventListener("focusin", ({ target }) => {
  held = !target.closest("#review");
  if (target !== put) put = null;
});
for (const deed of ["pointerdown", "keydown", "input"]) {
  document.addEventListener(deed, () => {
    if (deed === "pointerdown") held = false;
    put = null;
  }, true);
}

function look() {
  if (!held || document.activeElement !== document.body || document.querySelector("dialog[open]")) return;
  put = document.getElementById(hasKeyboard.matches ? "prompt" : "scroller");
  put.focus({ preventScroll: true });
}

// Whether the person who had the focus there has not gone on to something else while something was on its way.
export const isStill = (...there) => [...there, document.body, put].includes(document.activeElement);

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
