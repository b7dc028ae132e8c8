// The sidebar and the review panel: beside the conversation where there is room, drawers where not.
import { arrive } from "./motion.js";
import { onPage } from "./page.js";
import { root } from "./root.js";
import { shortcut } from "./shortcuts.js";

const layout = document.getElementById("layout");
const review = document.getElementById("review");
const beside = document.getElementById("beside"); // the review and opened files, of which one is shown
const main = document.getElementById("main");
const states = document.getElementById("states");
const narrow = matchMedia("(max-width: 760px)");
const medium = matchMedia("(max-width: 1180px)");
const YEAR = 60 * 60 * 24 * 365;

const SWITCHES = { sidebar: "button[data-drawer=sidebar]", review: "[data-toggle=review]" };
let opener = null;

function drawer(name) {
  const before = layout.dataset.drawer ?? "";
  if (name === before) return;
  if (name) layout.dataset.drawer = name;
  else delete layout.dataset.drawer;
  const panel = name === "review" ? beside : document.getElementById(name);
  for (const part of layout.children) part.inert = Boolean(name) && part !== panel && !part.matches(".scrim");
  mark();
  if (name && !before) opener = document.activeElement;
  if (name) enter(focusable(name));
  else leave(focusable(before), SWITCHES[before]);
}

const focusable = (name) => document.getElementById(name === "review" && beside.hasAttribute("data-file") ? "opened-files" : name);

// A place of its own for the focus, only while it is a drawer: elsewhere a click into it must not move the focus.
function enter(panel) {
  panel.tabIndex = -1;
  panel.focus({ preventScroll: true });
}

function leave(panel, button) {
  panel.removeAttribute("tabindex");
  const back = opener?.isConnected && opener !== document.body ? opener : document.querySelector(button);
  back?.focus({ preventScroll: true });
}

function reviewShown() {
  if (beside.hasAttribute("data-file")) return false;
  return medium.matches ? layout.dataset.drawer === "review" : Boolean(review.offsetParent);
}

function mark() {
  document.querySelector(SWITCHES.review)?.setAttribute("aria-expanded", String(reviewShown()));
  document.querySelector(SWITCHES.sidebar)?.setAttribute("aria-expanded", String(layout.dataset.drawer === "sidebar"));
}

// What the styles ask of the page beyond what they can see at little cost (static/css/layout.css).
function note() {
  const { review: chosen } = layout.dataset;
  layout.toggleAttribute("data-beside", !review.hidden && (chosen === "open" || !review.querySelector(".review-empty")));
  layout.toggleAttribute("data-files", Boolean(review.querySelector(".file")));
}

function noteNews() {
  layout.toggleAttribute("data-plan", Boolean(document.getElementById("plan")?.querySelector(".plan-file[open]")));
  main.toggleAttribute("data-asked", Boolean(states.querySelector(".permission, .question")));
}

// Opened files, whatever the person chose about the review.
export function showBeside() {
  if (medium.matches) return drawer("review");
  if (layout.dataset.review === "closed") choose("");
}

function toggleReview(show = !reviewShown()) {
  if (show) document.dispatchEvent(new CustomEvent("beside:front"));
  if (medium.matches) return drawer(show ? "review" : "");
  choose(show ? "open" : "closed");
  if (show) arrive(review);
}

// A drawer follows the finger: the list comes from the left, the review from the right.
function swiped(right) {
  const { drawer: open } = layout.dataset;
  if (open) {
    if ((open === "sidebar") !== right) drawer("");
  } else if (right) {
    if (narrow.matches) drawer("sidebar");
  } else if (medium.matches && !review.hidden) toggleReview(true);
}
if (matchMedia("(pointer: coarse)").matches) {
  import("./swipes.js").then(({ begin }) => begin(swiped));
  import("./keyboard.js");
}

// A cookie, so that the next page of the project comes laid out by it.
function choose(state) {
  if (state) layout.dataset.review = state;
  else delete layout.dataset.review;
  note();
  document.cookie = `panel=${state}; Path=${root}/p/${document.body.dataset.project}; Max-Age=${YEAR}; SameSite=Strict`;
  mark();
}

// A changed file in the conversation opens the panel at its diff.
function openFile(path) {
  toggleReview(true);
  const file = document.querySelector(`#review [data-file="${CSS.escape(path)}"]`);
  file?.scrollIntoView({ block: "start" });
  file?.dispatchEvent(new CustomEvent("review:open", { bubbles: true }));
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-drawer], [data-toggle=review], [data-show-review], [data-review-file], [data-close-drawers]");
  if (!button || button === layout) return;
  if (button.dataset.toggle) toggleReview();
  else if (button.dataset.showReview !== undefined) toggleReview(true);
  else if (button.dataset.reviewFile !== undefined) openFile(button.dataset.reviewFile);
  else if (button.dataset.closeDrawers !== undefined) drawer("");
  else drawer(layout.dataset.drawer ? "" : button.dataset.drawer);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !layout.dataset.drawer || event.defaultPrevented || document.querySelector("dialog[open], :popover-open")) return;
  event.preventDefault();
  drawer("");
});

document.addEventListener("layout:reset", () => {
  document.dispatchEvent(new CustomEvent("beside:front"));
  choose("");
});
shortcut("fold-list", () => !narrow.matches && document.querySelector("[data-fold-list]").click());

for (const query of [narrow, medium]) query.addEventListener("change", () => drawer(""));
const project = document.title.split(" · ").at(-1);
document.addEventListener("beside:changed", mark);
document.addEventListener("page:changed", () => {
  noteNews();
  document.title = `${document.getElementById("title").textContent} · ${project}`;
});

// Somebody who uses the panel wants it there, also while it shows nothing.
review.addEventListener("change", () => choose("open"));
review.addEventListener("review:renewed", () => {
  note();
  mark();
});
review.addEventListener("toggle", noteNews, true);
review.addEventListener("review:show", () => toggleReview(true));
onPage(() => {
  note();
  noteNews();
  mark();
  return () => drawer("");
});
