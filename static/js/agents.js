// Tab in the prompt's text takes the next agent; after Esc it leaves the text, as Shift-Tab always does.
import { field } from "./composer.js";

const status = document.getElementById("composer-status");
const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];
let leaving = false;

field.addEventListener("keydown", (event) => {
  if (event.key === "Tab") next(event);
  else if (!MODIFIERS.includes(event.key)) leaving = event.key === "Escape";
});
field.addEventListener("blur", () => (leaving = false));

function next(event) {
  const picker = document.getElementById("agent-picker");
  const kept = event.shiftKey || event.ctrlKey || event.altKey || event.metaKey || event.isComposing;
  if (kept || leaving || event.defaultPrevented || !(picker?.options.length > 1)) return;
  event.preventDefault();
  picker.selectedIndex = (picker.selectedIndex + 1) % picker.options.length;
  picker.dispatchEvent(new Event("change", { bubbles: true }));
  status.textContent = `Agent: ${picker.selectedOptions[0].textContent.trim()}`;
}
