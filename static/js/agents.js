// Tab in the prompt's text takes the next agent and Shift-Tab the next mode; after Esc they leave the text.
import { agents, choose, now, presets } from "./choice.js";
import { field } from "./composer.js";
import { composes } from "./ime.js";

const status = document.getElementById("composer-status");
const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];
const RISKY = "everything"; // is chosen from the list alone
let leaving = false;

field.addEventListener("keydown", (event) => {
  if (event.key === "Tab") next(event);
  else if (!MODIFIERS.includes(event.key)) leaving = event.key === "Escape";
});
field.addEventListener("blur", () => (leaving = false));

function next(event) {
  const kind = event.shiftKey ? "preset" : "agent";
  const names = event.shiftKey ? presets().filter((name) => name !== RISKY) : agents();
  const kept = event.ctrlKey || event.altKey || event.metaKey || composes(event);
  if (kept || leaving || event.defaultPrevented || names.length < 2) return;
  event.preventDefault();
  const name = names[(names.indexOf(now(kind)) + 1) % names.length];
  const done = choose(kind, name);
  if (kind === "agent") status.textContent = `Agent: ${name[0].toUpperCase()}${name.slice(1)}`;
  else done.then(() => (status.textContent = `Mode: ${document.querySelector("#preset-picker .pick-name").textContent}`));
}
