// The conversation follows its end only while the person is at the end.
import { isPressed } from "./busy.js";
import { onPage } from "./page.js";

const scroller = document.getElementById("scroller");
const latest = document.getElementById("latest");
const NEAR = 48;
let following = true;
let top = 0;
let tall = 0;
let way = null; // to a message, while it is not over

function atEnd() {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
}

// What is pressed is not drawn away from under the pointer.
function follow() {
  if (following && !isPressed(scroller)) scroller.scrollTop = scroller.scrollHeight;
  offer(!following && !atEnd());
}

// Written only where it changes: the browser looks at the page anew even where it is the same.
function offer(wanted) {
  if (latest.hidden === wanted) latest.hidden = !wanted;
}

export const isFollowing = () => following;

// Goes a way to a message that may be far above. What comes in there meanwhile, where the page stands at its end, is no
// arriving at the end.
export async function lead(go) {
  const mine = (way = {});
  following = false;
  try {
    return await go();
  } finally {
    if (way === mine) way = null;
  }
}

function jump() {
  following = true;
  follow();
}

scroller.addEventListener(
  "scroll",
  () => {
    // Only going up leaves the end: text that grew since the last frame is not the person's doing.
    // Nor is what comes up because something above it went.
    if (atEnd()) following ||= !way;
    else if (scroller.scrollTop < top && scroller.scrollHeight >= tall) following = false;
    top = scroller.scrollTop;
    tall = scroller.scrollHeight;
    offer(!following);
  },
  { passive: true },
);
latest.addEventListener("click", jump);
document.addEventListener("page:prompted", jump);
document.addEventListener("page:free", follow);
document.addEventListener("page:jumped", () => {
  following = false;
});

const sizes = new ResizeObserver(follow);
function watch() {
  sizes.disconnect();
  sizes.observe(scroller);
  sizes.observe(document.getElementById("conversation"));
}
document.addEventListener("page:replaced", watch);
onPage(() => {
  way = null;
  watch();
  jump();
});

// Older messages come in above: what the person reads stays where it is.
let height = 0;
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  height = event.detail.target.id === "messages" ? scroller.scrollHeight : 0;
});
document.addEventListener("htmx:oobAfterSwap", () => {
  if (height && !following) scroller.scrollTop += scroller.scrollHeight - height;
  height = 0;
});
