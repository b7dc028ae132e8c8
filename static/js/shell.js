// Shell mode: `!` in an empty composer makes the text a command line, which is run as the person's own and is no
// prompt for the model. Esc leaves it, and Backspace before the first letter.
import { draft, field, form, keep, putBack, read } from "./composer.js";
import { composes } from "./ime.js";
import { onPage } from "./page.js";
import { gettext } from "./words.js";

const label = document.getElementById("shell-mode");
const status = document.getElementById("composer-status");
const PLACEHOLDER = { true: gettext("A command to run in the project"), false: field.placeholder };

const editing = () => form.hasAttribute("data-editing"); // a prompt that waits, which stays one

export const shell = {
  active: () => form.hasAttribute("data-shell") && !editing(),
  enter: () => set(true),
  leave: () => set(false),
};

function set(on) {
  form.toggleAttribute("data-shell", on);
  label.hidden = !on;
  field.placeholder = PLACEHOLDER[on];
  keep("shell", on ? "on" : "");
}

// Prompts and command lines that were sent off; one command line alone is in shell mode again.
export function putLettersBack(letters) {
  if (!letters.length) return;
  const alone = letters.length === 1 && letters[0].shell && !draft();
  putBack(...letters.map(({ shell: line, text }) => (line && !alone ? `!${text}` : text)));
  if (alone) shell.enter();
}

field.addEventListener("beforeinput", (event) => {
  if (event.data !== "!" || event.isComposing || field.value || editing() || shell.active()) return;
  event.preventDefault();
  shell.enter();
  status.textContent = gettext("Shell: Enter runs the line in the project, Escape leaves.");
});

field.addEventListener("keydown", (event) => {
  if (composes(event) || event.defaultPrevented || !shell.active()) return;
  const first = field.selectionStart === 0 && field.selectionEnd === 0;
  if (event.key !== "Escape" && !(event.key === "Backspace" && first)) return;
  event.preventDefault();
  shell.leave();
  status.textContent = gettext("No longer in the shell: the text is a prompt.");
});

onPage(() => {
  if (read("shell") && draft()) shell.enter();
  else shell.leave();
});
