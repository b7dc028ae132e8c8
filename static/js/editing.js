// A prompt that waits is edited in the composer; the draft is put aside and comes back afterwards.
import { attachments } from "./attachments.js";
import { complain, field, form, keep, problem, read, setPrompt, show } from "./composer.js";
import { onPage } from "./page.js";
import { waiting } from "./recall.js";
import { putLettersBack } from "./shell.js";
import { gettext } from "./words.js";

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

// A prompt that was stopped before the model was asked stands in front of what was written since.
async function takeBack(button) {
  const found = await waiting(button.dataset.takeBack);
  if (!found) return complain(gettext("This prompt is gone."));
  putLettersBack([found]);
  attachments.putBack(...found.files);
  document.getElementById(`${button.dataset.takeBack}-let-go`)?.click();
  field.focus();
}

async function begin(wanted) {
  if (id === wanted) return field.focus();
  if (id) return complain(gettext("Save or cancel this edit first."));
  field.readOnly = true; // what is typed meanwhile would be lost
  const found = await waiting(wanted);
  field.readOnly = false;
  if (!found) return complain(gettext("This prompt no longer waits, so it cannot be edited."));
  set(wanted);
  show("edit");
  setPrompt(found.text);
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
  words.textContent = late ? gettext("Too late to edit: Enter sends this as a new prompt") : gettext("Editing a prompt that waits: Enter saves");
  cancel.textContent = late ? gettext("Discard") : gettext("Cancel");
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

onPage(() => {
  field.readOnly = false;
  set(read("editing"));
  if (!id) return;
  show("edit");
  look();
});
