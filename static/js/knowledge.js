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

// What is typed and not sent outlives that the panel is closed, and that its list comes anew.
const fields = () => [...box.querySelectorAll("input[type=text], textarea")];
const typed = (sent) => fields().filter((field) => field.value !== field.defaultValue && field.form !== sent);

function putBack(kept) {
  for (const { id, value } of kept) {
    const field = document.getElementById(id);
    if (!field) continue;
    field.value = value;
    for (let around = field.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  }
}

export async function open() {
  await sheet;
  box.showPopover();
  await renew();
  document.getElementById("knowledge-title")?.focus();
}

async function renew() {
  const kept = typed();
  box.replaceChildren(); // nothing is to be pressed that is about to go
  await window.htmx.ajax("GET", address(), { source: box, target: box, swap: "innerHTML", values: { session: session() } });
  putBack(kept);
}

document.addEventListener("knowledge:changed", () => box.matches(":popover-open") && renew());

// From the palette.
export async function runAction(action) {
  const values = { action, session: session() };
  await window.htmx.ajax("POST", address("/run"), { source: document.body, swap: "none", values });
}

// What was open stays so when the list comes anew, but for a form that has done its work.
let opened = [];
let unsent = [];
box.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
  if (target.id !== "knowledge-list") return;
  opened = [...target.querySelectorAll("details[open][id]")].map(({ id }) => id);
  unsent = typed(detail.requestConfig.elt.closest("form"));
});
box.addEventListener("htmx:afterSwap", () => {
  for (const id of opened.splice(0)) document.getElementById(id)?.setAttribute("open", "");
  putBack(unsent.splice(0));
  document.getElementById("knowledge-problem")?.replaceChildren();
});

box.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-to-prompt]");
  if (!button) return;
  box.hidePopover();
  add(button.dataset.toPrompt);
});
document.addEventListener("terminal:show", () => box.matches(":popover-open") && box.hidePopover());
