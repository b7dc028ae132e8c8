// What a person pins for the agent: a message, a file of the tree or the review, a note. Loaded when it is used.
import { complain, form } from "./composer.js";
import { gettext } from "./words.js";

function ask(verb, what, how) {
  const { base } = form.dataset;
  return base ? window.htmx.ajax(verb, `${base}/${what}`, how) : complain(gettext("There is no session yet: send a prompt first."));
}

// The page is told what became of it; why it was not done comes as a note.
const post = (what, values) => ask("POST", what, { target: "#toasts", swap: "beforeend", values });

// A `[data-pin]`: of a message its pin, which is empty for none; `file` in the head of one, and `note`.
export function press(button) {
  const { pin } = button.dataset;
  if (pin === "note") writeNote();
  else if (pin === "file") pinFile(button.closest(".file").dataset.key);
  else if (pin) post(`pins/${pin}/remove`, {});
  else post("pins", { message: button.closest(".message").id });
}

export const pinFile = (path) => post("pins", { path });

export const writeNote = () => ask("GET", "pins/note", { target: "#dialog", swap: "innerHTML" });
