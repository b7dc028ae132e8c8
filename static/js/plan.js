// The plan in the panel. And the choice beside the prompt follows the session when the agent changes by itself: an
// approved plan goes on with build.
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

// What is done to it comes with a module of its own when it is asked for.
const reading = () => import("./plan-reading.js");
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-plan-do]");
  if (button) (await reading()).act(button);
});
document.addEventListener("pointerup", async ({ target }) => {
  if (target.closest?.(".plan-text") && !getSelection().isCollapsed) (await reading()).offer();
});
