// The plan in the panel: leaving its editor. And the choice beside the prompt follows the session when the agent
// changes by itself: an approved plan goes on with build.
import { chosen, renew } from "./choice.js";
import { onPage } from "./page.js";

let agent = "";

function current() {
  return document.getElementById("plan-badge")?.dataset.agent;
}

function follow() {
  const now = current();
  if (!now || now === agent) return;
  agent = now;
  if (chosen("agent") !== now) renew();
}

onPage(() => {
  agent = current();
});
for (const event of ["page:changed", "page:replaced"]) document.addEventListener(event, follow);

// Both of its ends take the field away that has the keyboard.
function left() {
  document.getElementById("plan-edit-button").focus();
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-plan-cancel]")) return;
  for (const id of ["plan-editor", "plan-edit-problem"]) document.getElementById(id).replaceChildren();
  left();
});
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  if (detail.requestConfig?.elt.id === "plan-edit" && detail.xhr.status === 200) left();
});
