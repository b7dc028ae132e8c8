// The dialog that gives the agent a goal, for the session of the page or for a new one. Loaded when it is used.
import { context } from "./choice.js";
import { root } from "./root.js";

const box = document.getElementById("dialog");

export const open = (objective = "") =>
  window.htmx.ajax("GET", `${root}/p/${document.body.dataset.project}/goal`, { source: box, target: box, swap: "innerHTML", values: { ...place(), objective } });

// A new session has what is picked beside the prompt.
function place() {
  const { session, agent, model, variant, preset } = context();
  return session ? { session } : { agent, model, variant, preset };
}
