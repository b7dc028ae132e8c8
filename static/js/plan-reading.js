// Reading a plan: a comment on a passage or on what is selected in it, the plan over the whole panel, what is other in it
// than it was; and leaving its editor.
import { base } from "./page.js";
import { addSheet } from "./sheet.js";
import { gettext } from "./words.js";

const layout = document.getElementById("layout");
const styled = addSheet("plan-reading");
const passageOf = (node) => (node?.nodeType === Node.TEXT_NODE ? node.parentElement : node)?.closest(".plan-passage");

const DO = { say: (button) => say(button.closest(".plan-passage")), changes: compare, wide: widen, leave };

export async function act(button) {
  await styled;
  DO[button.dataset.planDo]?.(button);
}

// What is selected, where that is within the plan.
function selected() {
  const selection = getSelection();
  if (selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  const [first, last] = [passageOf(range.startContainer), passageOf(range.endContainer)];
  return first && last ? { first, last, words: selection.toString().trim() } : null;
}

async function say(passage, { first = passage, last = passage, words = "" } = {}) {
  const place = document.getElementById(`${last.id}-writing`);
  const written = place.querySelector("textarea");
  if (written) return written.focus();
  const query = new URLSearchParams({ start: first.dataset.start, end: last.dataset.end, words });
  await window.htmx.ajax("GET", `${base()}/plan/comment?${query}`, { target: place, swap: "innerHTML" });
  place.querySelector("textarea")?.focus();
}

// A button beside what was selected.
export async function offer() {
  const chosen = selected();
  if (!chosen?.words) return;
  await styled;
  document.getElementById("plan-offer")?.remove();
  const button = Object.assign(document.createElement("button"), { id: "plan-offer", type: "button", className: "button plan-offer", textContent: gettext("Comment on this") });
  button.addEventListener("click", () => {
    button.remove();
    getSelection().collapseToEnd();
    say(chosen.last, chosen);
  });
  document.getElementById(`${chosen.last.id}-writing`).before(button);
}

document.addEventListener("selectionchange", () => getSelection().isCollapsed && !document.activeElement?.matches("#plan-offer") && document.getElementById("plan-offer")?.remove());

async function compare(button) {
  const place = document.getElementById("plan-changes");
  const on = button.getAttribute("aria-pressed") !== "true";
  if (on) await window.htmx.ajax("GET", `${base()}/plan/changes`, { target: place, swap: "innerHTML" });
  else place.replaceChildren();
  tell();
}

function widen() {
  layout.toggleAttribute("data-wide-plan");
  tell();
}

// The panel may have been renewed.
function tell() {
  document.getElementById("plan-changes-button")?.setAttribute("aria-pressed", String(Boolean(document.getElementById("plan-changes").childElementCount)));
  document.getElementById("plan-wide-button")?.setAttribute("aria-pressed", String(layout.hasAttribute("data-wide-plan")));
}
document.addEventListener("page:changed", tell);

function close(form) {
  const place = form.closest("[data-holds]");
  place.replaceChildren();
  document.getElementById(place.id.replace("-writing", "-comment"))?.focus();
}

document.addEventListener("click", ({ target }) => target.closest("[data-plan-comment-cancel]") && close(target.closest("form")));
document.addEventListener("keydown", (event) => {
  const form = event.target.closest?.("[data-plan-comment]");
  if (event.key !== "Escape" || !form || event.isComposing) return;
  event.preventDefault();
  close(form);
});
document.addEventListener("htmx:afterRequest", ({ target, detail }) => {
  if (detail.successful && target.matches?.("[data-plan-comment]")) close(target);
});

// Both of its ends take the field away that has the keyboard.
function left() {
  document.getElementById("plan-edit-button").focus();
}

function leave() {
  for (const id of ["plan-editor", "plan-edit-problem"]) document.getElementById(id).replaceChildren();
  left();
}
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  if (detail.requestConfig?.elt.id === "plan-edit" && detail.xhr.status === 200) left();
});
