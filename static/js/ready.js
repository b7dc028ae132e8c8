// A card that asks takes no click and no key before a person can have read it: for half a second after it appeared or
// the window got the focus. A click also has to wait after it was moved; a key goes where the focus is, wherever that
// stands. A key that is held answers nothing.
const CARDS = ".permission, form.question, .inbox-entry, .app-ask";
const PAUSE = 500;
const NEAR = 2; // pixels
const MOVES = /^(Tab|Escape|Arrow\w+|Home|End|Page\w+|Shift|Control|Alt|Meta|j|k)$/;
const WRITING = "textarea, [contenteditable], input:not([type=checkbox], [type=radio], [type=button], [type=submit])";

const places = new WeakMap(); // card -> where it stands
const readable = new WeakMap(); // card -> when it takes a key
const until = new WeakMap(); // card -> when it takes a click
let watching = 0;
let attended = 0; // when the page, or a frame in it, had the focus last
const LATELY = 200;

// Where it stands; scrolling is the person's own doing.
function placeOf(card) {
  const { left, top, width } = card.getBoundingClientRect();
  let scrolled = 0;
  for (let around = card.parentElement; around; around = around.parentElement) scrolled += around.scrollTop;
  return { left, top: top + scrolled, shown: width > 0 };
}

const isNew = (was, now) => !was || was.shown !== now.shown;
const isMoved = (was, now) => isNew(was, now) || Math.abs(was.left - now.left) > NEAR || Math.abs(was.top - now.top) > NEAR;

function wait(card, times = [until, readable]) {
  for (const time of times) time.set(card, performance.now() + PAUSE);
  card.dataset.unready = "";
}

// At each frame, as long as anything is asked.
function watch() {
  const cards = document.querySelectorAll(CARDS);
  for (const card of cards) {
    const [was, now] = [places.get(card), placeOf(card)];
    if (isNew(was, now)) wait(card);
    else if (isMoved(was, now)) wait(card, [until]);
    places.set(card, now);
    if (performance.now() >= until.get(card)) delete card.dataset.unready;
  }
  attended = document.hasFocus() ? performance.now() : 0;
  watching = cards.length ? requestAnimationFrame(watch) : 0;
}

// Where cards come to that nothing here looks at, whoever puts one there says so.
export function begin() {
  if (!watching) watch();
}

function isUnready(element, byKey) {
  for (let card = element.closest?.(CARDS); card; card = card.parentElement.closest(CARDS)) {
    const time = (byKey ? readable : until).get(card);
    const gone = byKey ? isNew : isMoved; // since the last frame
    if (time === undefined || performance.now() < time || gone(places.get(card), placeOf(card))) return true;
  }
  return false;
}

function stop(event) {
  event.preventDefault();
  event.stopImmediatePropagation();
}

let held = false; // the press began before its card was ready
addEventListener("pointerdown", ({ target }) => (held = isUnready(target, false)), true);
addEventListener("click", (event) => {
  if (!event.target.closest?.(CARDS) || !event.isTrusted) return;
  if (event.detail ? held : isUnready(event.target, true)) stop(event);
}, true);
addEventListener("keydown", (event) => {
  const { target, key } = event;
  if (!target.closest?.(CARDS) || MOVES.test(key)) return;
  if (target.matches(WRITING) && (key !== "Enter" || target.matches("textarea"))) return;
  if (event.repeat || isUnready(target, true)) stop(event);
}, true);
// From a frame of the page to the page itself it is no way from elsewhere.
addEventListener("focus", () => {
  if (performance.now() - attended > LATELY) document.querySelectorAll(CARDS).forEach((card) => wait(card));
});
for (const id of ["states", "inbox", "review"]) {
  const place = document.getElementById(id);
  if (place) new MutationObserver(begin).observe(place, { childList: true, subtree: true });
}
begin();
