// The sidebar and the review panel: beside the conversation where there is room, drawers where not.

const layout = document.getElementById("layout");
const review = document.getElementById("review");
const narrow = matchMedia("(max-width: 760px)");
const medium = matchMedia("(max-width: 1180px)");
const STORED = "review";

function drawer(name) {
  if (name) layout.dataset.drawer = name;
  else delete layout.dataset.drawer;
  mark();
}

function reviewShown() {
  return medium.matches ? layout.dataset.drawer === "review" : Boolean(review?.offsetParent);
}

function mark() {
  document.querySelector("[data-toggle=review]")?.setAttribute("aria-expanded", String(reviewShown()));
  document
    .querySelector("[data-drawer=sidebar]")
    ?.setAttribute("aria-expanded", String(layout.dataset.drawer === "sidebar"));
}

function toggleReview(show = !reviewShown()) {
  if (medium.matches) return drawer(show ? "review" : "");
  choose(show ? "open" : "closed");
}

function choose(state) {
  layout.dataset.review = state;
  localStorage.setItem(STORED, state);
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
  const button = event.target.closest("[data-drawer], [data-toggle=review], [data-review-file], [data-close-drawers]");
  if (!button || button === layout) return;
  if (button.dataset.toggle) toggleReview();
  else if (button.dataset.reviewFile !== undefined) openFile(button.dataset.reviewFile);
  else if (button.dataset.closeDrawers !== undefined) drawer("");
  else drawer(layout.dataset.drawer ? "" : button.dataset.drawer);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !layout.dataset.drawer || event.defaultPrevented || document.querySelector("dialog[open], :popover-open")) return;
  event.preventDefault();
  drawer("");
});

for (const query of [narrow, medium]) query.addEventListener("change", () => drawer(""));
const project = document.title.split(" · ").at(-1);
document.addEventListener("page:changed", () => {
  document.title = `${document.getElementById("title").textContent} · ${project}`;
});

// Somebody who uses the panel wants it there, also while it shows nothing.
review?.addEventListener("change", () => choose("open"));
review?.addEventListener("review:renewed", mark);
review?.addEventListener("review:show", () => toggleReview(true));
if (localStorage.getItem(STORED)) layout.dataset.review = localStorage.getItem(STORED);
mark();
