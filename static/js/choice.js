// What is chosen beside the prompt, of `agent`, `model`, `variant` and `preset`: read, changed, coloured. A session has its
// choice from the server, a new one has it in the form.
import { onPage } from "./page.js";
import { root } from "./root.js";

const place = document.getElementById("choice");
const asking = document.getElementById("picker"); // outside of the form, whose fields would be sent along
const KINDS = ["agent", "model", "variant", "preset"];

const field = (kind) => place.querySelector(`[name=${kind}]`);

export const chosen = (kind) => field(kind)?.value ?? "";
// What counts, also where nobody chose it.
export const now = (kind) => document.getElementById(`${kind}-picker`)?.dataset.now ?? chosen(kind);
export const agents = () => JSON.parse(document.getElementById("agent-picker")?.dataset.agents ?? "[]");
export const presets = () => JSON.parse(document.getElementById("preset-picker")?.dataset.presets ?? "[]");
export const picked = () => Object.fromEntries(KINDS.filter(field).map((kind) => [kind, chosen(kind)]));
export const context = () => ({ project: document.body.dataset.project, session: document.body.dataset.session, ...picked() });

export function choose(kind, value) {
  const { session } = document.body.dataset;
  if (field(kind)) field(kind).value = value; // until the answer is here
  const how = { source: asking, target: place, swap: "innerHTML" };
  if (session) return window.htmx.ajax("POST", `${root}/pickers/choose`, { ...how, values: { session, [kind]: value } });
  return window.htmx.ajax("GET", `${root}/pickers/choice`, { ...how, values: { ...context(), chosen: kind } });
}

// The choice was changed elsewhere.
export function renew() {
  place.dispatchEvent(new Event("choice:stale"));
}

// What another page had chosen is shown until this one's choice is here, and not sent.
onPage(() => {
  for (const kind of KINDS) field(kind)?.remove();
});

place.addEventListener("htmx:afterSettle", () => {
  const button = document.getElementById("agent-picker");
  const color = button?.dataset.color;
  button?.classList.toggle("coloured", Boolean(color));
  // Not on the button: htmx would copy its style to the next one as an attribute, which the page's policy refuses.
  if (color) place.style.setProperty("--agent", color);
});
