// A card that asks takes no click and no key before a person can have read it: for half a second after it appeared, was
// moved, or the window got the focus. A key that is held answers nothing.
const CARDS = ".permission, form.question, .inbox-entry";
const PAUSE = 500;
const NEAR = 2; // pixels
const MOVES = /^(Tab|Escape|Arrow\w+|Home|End|Page\w+|Shift|Control|Alt|Meta|j|k)$/;
const WRITING = "textarea, [contenteditable], input:not([type=checkbox], [type=radio], [type=button], [type=submit])";

const places = new WeakMap(); // card -> where it stands
const until = new WeakMap(); // card -> when it takes an answer
let watching = 0;

// Where it stands; scrolling is the person's own doing.
function placeOf(card) {
  const { left, top, width } = card.getBoundingClientRect();
  let scrolled = 0;
  for (let around = card.parentElement; around; around = around.parentElement) scrolled += around.scrollTop;
  return { left, top: top + scrolled, shown: width > 0 };
}

const isMoved = (was, now) =>
  !was || was.shown !== now.shown || Math.abs(was.left - now.left) > NEAR || Math.abs(was.top - now.top) > NEAR;

function wait(card) {
  until.set(card, performance.now() + PAUSE);
  card.dataset.unready = "";
}

// At each frame, as long as anything is asked.
function watch() {
  const cards = document.querySelectorAll(CARDS);
  for (const card of cards) {
    const now = placeOf(card);
    if (isMoved(places.get(card), now)) wait(card);
    places.set(card, now);
    if (performance.now() >= until.get(card)) delete card.dataset.unready;
  }
  watching = cards.length ? requestAnimationFrame(watch) : 0;
}

function begin() {
  if (!watching) watch();
}

const isUnready = (element) => {
  for (let card = element.closest?.(CARDS); card; card = card.parentElement.closest(CARDS)) {
    if (!until.has(card) || performance.now() < until.get(card) || isMoved(places.get(card), placeOf(card))) return true;
  }
  return false;
};

function stop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

let held = false; // the press began before its card was ready
addEventListener("pointerdown", ({ target }) => (held = isUnready(target)), true);
addEventListener("click", (event) => {
  if (!event.target.closest?.(CARDS) || !event.isTrusted) return;
  if (event.detail ? held : isUnready(event.target)) stop(event);
}, true);
addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (!target.closest?.(CARDS) || MOVES.test(key)) return;
  if (target.matches(WRITING) && (key !== "Enter" || target.matches("textarea"))) return;
  if (event.repeat || isUnready(target)) stop(event);
}, true);
addEventListener("focus", () => document.querySelectorAll(CARDS).forEach(wait));
for (const id of ["states", "inbox", "review"]) {
  const place = document.getElementById(id);
  if (place) new MutationObserver(begin).observe(place, { childList: true, subtree: true });
}
begin();
