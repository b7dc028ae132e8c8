// Keys in the prompt's text that take the next agent and the next mode, Tab and Shift-Tab; after Esc these leave the text.
import { agents, choose, now, presets } from "./choice.js";
import { field } from "./composer.js";
import { isModifier, shortcut } from "./shortcuts.js";
import { gettext, interpolate } from "./words.js";

const status = document.getElementById("composer-status");
const RISKY = "everything"; // is chosen from the list alone
let leaving = false;

field.addEventListener("keydown", (event) => {
  if (event.key !== "Tab" && !isModifier(event)) leaving = event.key === "Escape";
});
field.addEventListener("blur", () => (leaving = false));

const here = { within: (element) => element === field && !leaving, typing: true };
shortcut("next-agent", () => next("agent", agents()), here);
shortcut("next-mode", () => next("preset", presets().filter((name) => name !== RISKY)), here);

function next(kind, names) {
  if (names.length < 2) return false;
  const name = names[(names.indexOf(now(kind)) + 1) % names.length];
  const done = choose(kind, name);
  if (kind === "agent") status.textContent = interpolate(gettext("Agent: %(name)s"), { name: name[0].toUpperCase() + name.slice(1) });
  else done.then(() => (status.textContent = interpolate(gettext("Mode: %(name)s"), { name: document.querySelector("#preset-picker .pick-name").textContent })));
}
