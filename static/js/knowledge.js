// Notes, todos and actions of the project, in a panel. Loaded when it is first opened.
import { add } from "./composer.js";
import { addSheet } from "./sheet.js";
import { root } from "./root.js";

const sheet = addSheet("knowledge");
const box = Object.assign(document.createElement("div"), { id: "knowledge", className: "knowledge-panel", popover: "auto" });
box.setAttribute("role", "dialog");
box.setAttribute("aria-labelledby", "knowledge-title");
document.body.append(box);

const address = (part = "") => `${root}/p/${document.body.dataset.project}/knowledge${part}`;
const session = () => document.body.dataset.session ?? "";

// What is typed and not sent outlives that the panel is closed, and that its list comes anew. That what was opened outlives, too,
// but for a form that has done its work.
const fields = () => [...box.querySelectorAll("input[type=text], textarea")];
const folds = () => [...box.querySelectorAll("details[open]")];

function left(sent) {
  return {
    typed: fields().filter((field) => field.value !== field.defaultValue && field.form !== sent),
    opened: folds().filter((fold) => fold !== sent?.closest("details")).map(({ id, firstElementChild }) => id || firstElementChild.id),
  };
}

const openAround = (within) => {
  for (let fold = within.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
};

function putBack({ typed, opened }) {
  for (const id of opened) {
    const summary = document.getElementById(id);
    if (summary) openAround(summary);
  }
  for (const { id, value } of typed) {
    const field = document.getElementById(id);
    if (!field) continue;
    field.value = value;
    openAround(field);
  }
}

const ask = () => window.htmx.ajax("GET", address(), { source: box, target: box, swap: "innerHTML", values: { session: session() } });

export async function open() {
  await sheet;
  box.showPopover();
  const { typed } = left();
  box.replaceChildren(); // nothing is to be pressed that is about to go
  await ask();
  putBack({ typed, opened: [] });
  document.getElementById("knowledge-title")?.focus();
}

document.addEventListener("knowledge:changed", () => box.matches(":popover-open") && ask());

// From the palette.
export async function runAction(action) {
  const values = { action, session: session() };
  await window.htmx.ajax("POST", address("/run"), { source: document.body, swap: "none", values });
}

let before = null;
box.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
  if (target === box || target.id === "knowledge-list") before = left(detail.requestConfig.elt.closest("form"));
});
box.addEventListener("htmx:afterSwap", () => {
  if (before) putBack(before);
  before = null;
  document.getElementById("knowledge-problem")?.replaceChildren();
});

box.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-to-prompt]");
  if (!button) return;
  box.hidePopover();
  add(button.dataset.toPrompt);
});
document.addEventListener("terminal:show", () => box.matches(":popover-open") && box.hidePopover());
