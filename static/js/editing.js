// A prompt that waits is edited in the composer; the draft is put aside and comes back afterwards.
import { complain, field, form, keep, problem, read, setPrompt, show } from "./composer.js";
import { mentions } from "./mentions.js";

const bar = document.getElementById("editing");
const words = bar.querySelector("[data-words]");
const cancel = bar.querySelector("[data-cancel-edit]");
let id = "";
let late = false;

export const editing = {
  active: () => Boolean(id),
  // Where the text is saved; nothing when it is too late for that.
  url: () => (id && !late ? `${form.dataset.base}/inbox/${id}/edit` : ""),
  leave() {
    setPrompt("");
    set("");
    show("draft");
  },
};

async function begin(wanted) {
  if (id === wanted) return field.focus();
  if (id) return complain("Save or cancel this edit first.");
  field.readOnly = true; // what is typed meanwhile would be lost
  const answer = await fetch(`${form.dataset.base}/inbox/${wanted}`).catch(() => null);
  const found = answer?.ok ? await answer.json().catch(() => null) : null;
  field.readOnly = false;
  if (!found) return complain("This prompt no longer waits, so it cannot be edited.");
  const { text, agents, parts } = found;
  mentions.add(...agents);
  for (const part of parts) mentions.attach(...part);
  set(wanted);
  show("edit");
  setPrompt(text);
  field.focus();
}

function set(wanted) {
  id = wanted;
  late = false;
  keep("editing", wanted);
  mark();
}

function mark() {
  bar.hidden = !id;
  form.toggleAttribute("data-editing", Boolean(id));
  words.textContent = late ? "Too late to edit: Enter sends this as a new prompt" : "Editing a prompt that waits: Enter saves";
  cancel.textContent = late ? "Discard" : "Cancel";
}

function tooLate() {
  late = true;
  mark();
}

// It was taken up, or withdrawn elsewhere, while it was being edited.
function look() {
  if (id && !late && !document.getElementById(`${id}-waiting`)) tooLate();
}

form.addEventListener("late", tooLate);
for (const name of ["page:changed", "page:replaced"]) document.addEventListener(name, look);

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-edit-waiting]");
  if (button) begin(button.dataset.editWaiting);
});
cancel.addEventListener("click", () => {
  problem.replaceChildren();
  editing.leave();
  field.focus();
});

if (read("editing")) {
  set(read("editing"));
  show("edit");
  look();
}
