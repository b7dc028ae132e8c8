// Messages that are undone are not shown: which ones the notice says, the rows of the page come with it already.
// The prompt that an undo takes out of the conversation goes back into the composer, to be said otherwise. What
// was written meanwhile stays there; the notice of the undo then offers to put the prompt in front of it.
import { attachments } from "./attachments.js";
import { complain, draft, field, keep, problem, read, setDraft } from "./composer.js";
import { onPage } from "./page.js";
import { said } from "./recall.js";
import { putLettersBack } from "./shell.js";
import { gettext } from "./words.js";

let writes = 0;
let back = {}; // the prompt that was put back, `{id, text, files}`; `{}` for none

// Without its files, which are asked for when they are to go.
function stored() {
  const [id, ...lines] = read("undone").split("\n");
  return id ? { id, text: lines.join("\n") } : {};
}

function remember(found) {
  back = found;
  keep("undone", found.id ? `${found.id}\n${found.text}` : "");
}

// The place is made anew with every undo and redo, so it is looked up; all else of the page is none of this.
const offered = () => document.getElementById("reverted")?.querySelector("[data-put-back]");
const untouched = () => Boolean(back.id) && draft() === back.text;

async function restore(id, wanted = () => true) {
  const found = await said(id);
  if (!found) return complain(gettext("This prompt is gone."));
  if (!wanted()) return look();
  if (untouched()) takeOut(); // of an undo before this one, which takes back more
  putLettersBack([found]);
  attachments.putBack(...found.files);
  problem.replaceChildren();
  remember({ id, text: found.text, files: found.files });
  look();
  field.focus();
}

function takeOut() {
  const { id, files } = back;
  remember({});
  setDraft("");
  if (files) attachments.remove(files);
  else said(id).then((found) => found && attachments.remove(found.files));
}

function look() {
  const offer = offered();
  if (offer) offer.hidden = offer.dataset.putBack === back.id && draft().startsWith(back.text);
}

let from = null; // the first message that is not shown, "" for none; null: to be looked at

// Ids rise with time.
function hide() {
  const now = document.getElementById("reverted")?.dataset.from ?? "";
  if (now === from) return;
  from = now;
  for (const message of document.querySelectorAll("#messages > .message")) message.classList.toggle("reverted", from !== "" && message.id >= from);
}

// It was redone, or a new prompt made the undo final.
function renewed() {
  hide();
  if (back.id && !offered()) untouched() ? takeOut() : remember({});
  look();
}

// Who writes while the prompt is on its way is not interrupted either.
document.addEventListener("prompt:undone", ({ detail }) => {
  const before = writes;
  if (!draft().trim() || untouched()) restore(detail.prompt, () => writes === before);
  else look();
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-put-back]");
  if (button) restore(button.dataset.putBack);
});
field.addEventListener("input", () => {
  writes += 1;
  look();
});
document.addEventListener("page:changed", renewed);
document.addEventListener("page:replaced", () => {
  from = null;
  renewed();
});
onPage(() => {
  back = stored();
  from = null;
  renewed();
});
