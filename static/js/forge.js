// The panel of the forge: issues and pull requests of the page's repository. Loaded when it is first opened.
import { add } from "./composer.js";
import { root } from "./root.js";
import { addSheet } from "./sheet.js";

const sheet = addSheet("forge");
const box = document.createElement("div");
Object.assign(box, { id: "forge", className: "forge-panel", popover: "auto" });
box.setAttribute("role", "dialog");
box.setAttribute("aria-labelledby", "forge-title");
document.body.append(box);

const { htmx } = window;
const byId = (id) => document.getElementById(id);
let opener = null; // the row of what is looked at

const place = () => Object.values(document.body.dataset).join();

export async function open() {
  const { project, session } = document.body.dataset;
  await sheet;
  box.showPopover();
  if (box.dataset.place !== place() || !byId("forge-view")) {
    await htmx.ajax("GET", `${root}/p/${project}/forge`, { source: box, target: box, swap: "innerHTML", values: { session } });
    box.dataset.place = place();
  }
  (byId("forge-item-title") || byId("forge-title"))?.focus();
}

function back() {
  byId("forge-item").replaceChildren();
  byId("forge-problem").replaceChildren();
  (opener?.isConnected ? opener : byId("forge-title")).focus();
}

function tab(button) {
  for (const each of box.querySelectorAll("[data-forge-tab]")) each.setAttribute("aria-pressed", String(each === button));
  byId("forge-item").replaceChildren();
}

// Into the prompt, for the person to read before it is sent.
async function tell(button) {
  button.disabled = true;
  const values = new URLSearchParams({ session: document.body.dataset.session || "" });
  const answer = await fetch(`${button.dataset.forgeTell}&${values}`).catch(() => null);
  const text = await answer?.text();
  button.disabled = false;
  if (answer?.ok) {
    box.hidePopover();
    return add(text);
  }
  byId("forge-problem").innerHTML = text ?? "";
  byId("forge-problem").scrollIntoView({ block: "nearest" });
}

const BY = [
  ["[data-forge-back]", back],
  ["[data-forge-tab]", tab],
  ["[data-forge-tell]", tell],
  ["[data-forge-open]", (button) => (opener = button)],
  ["[data-forge-cancel]", (button) => button.form.remove()],
];
box.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (button) BY.find(([selector]) => button.matches(selector))?.[1](button);
});

// What is looked at begins at its title; a question has the focus.
document.addEventListener("htmx:afterSwap", ({ detail: { target } }) => {
  if (!box.contains(target)) return;
  if (target.matches(".forge-merge")) return byId("forge-method")?.focus();
  const title = target.querySelector("#forge-item-title");
  if (!title || box.querySelector("[data-forge-tab]:focus")) return;
  box.scrollTop = 0;
  title.focus();
});
// A draft takes the place of what is written so that the browser's own undo brings that back.
box.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.elt.id !== "forge-draft" || !detail.successful) return;
  const { title, body } = JSON.parse(detail.xhr.responseText);
  for (const [id, text] of [["forge-new-title", title], ["forge-new-body", body]]) {
    byId(id).focus();
    byId(id).select();
    document.execCommand("insertText", false, text);
  }
});
