// A prompt that waits is edited in the composer; the draft is put aside and comes back afterwards.
import { complain, field, form, keep, problem, putBack, read, setPrompt, show } from "./composer.js";
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

// The text of a prompt as it was written, its mentions known to the composer; null when it is no more.
async function whole(wanted) {
  const answer = await fetch(`${form.dataset.base}/inbox/${wanted}`).catch(() => null);
  const found = answer?.ok ? await answer.json().catch(() => null) : null;
  if (!found) return null;
  mentions.add(...found.agents);
  for (const part of found.parts) mentions.attach(...part);
  return found.text;
}

// A prompt that was stopped before the model was asked stands in front of what was written since.
async function takeBack(button) {
  const text = await whole(button.dataset.takeBack);
  if (text === null) return complain("This prompt is gone.");
  putBack(text);
  document.getElementById(`${button.dataset.takeBack}-let-go`)?.click();
  field.focus();
}

async function begin(wanted) {
  if (id === wanted) return field.focus();
  if (id) return complain("Save or cancel this edit first.");
  field.readOnly = true; // what is typed meanwhile would be lost
  const text = await whole(wanted);
  field.readOnly = false;
  if (text === null) return complain("This prompt no longer waits, so it cannot be edited.");
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
  const back = event.target.closest("[data-take-back]");
  if (back) takeBack(back);
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
