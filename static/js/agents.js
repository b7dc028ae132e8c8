// Tab in the prompt's text takes the next agent; after Esc it leaves the text, as Shift-Tab always does.
import { agents, choose, chosen } from "./choice.js";
import { field } from "./composer.js";
import { composes } from "./ime.js";

const status = document.getElementById("composer-status");
const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];
let leaving = false;

field.addEventListener("keydown", (event) => {
  if (event.key === "Tab") next(event);
  else if (!MODIFIERS.includes(event.key)) leaving = event.key === "Escape";
});
field.addEventListener("blur", () => (leaving = false));

function next(event) {
  const names = agents();
  const kept = event.shiftKey || event.ctrlKey || event.altKey || event.metaKey || composes(event);
  if (kept || leaving || event.defaultPrevented || names.length < 2) return;
  event.preventDefault();
  const name = names[(names.indexOf(chosen("agent")) + 1) % names.length];
  choose("agent", name);
  status.textContent = `Agent: ${name[0].toUpperCase()}${name.slice(1)}`;
}
