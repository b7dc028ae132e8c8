// Prompts that did not reach the server stand in the composer again. They leave it by themselves when the server
// is back, each under the id it had, so that none is taken twice; not when somebody changed them meanwhile.
import { attachments } from "./attachments.js";
import { draft, field, form, setDraft } from "./composer.js";
import { onPage } from "./page.js";
import { putLettersBack, shell } from "./shell.js";
import { gettext } from "./words.js";

const PAUSE = 5_000; // milliseconds until it is tried again where only the request was lost
const notice = document.getElementById("unreached");
const words = notice.querySelector("p");
const connection = document.getElementById("connection");
// `{letters, rest, text, line}`: `rest` was written after them, `text` stands in the composer, `line`: in shell mode
let held = null;

const files = () => held.letters.flatMap((letter) => letter.files);
const unchanged = () =>
  Boolean(held) && draft() === held.text && shell.active() === held.line && attachments.have(files());

export const unsent = {
  // Without letters it is the edit of a prompt that could not be saved.
  hold(letters) {
    if (letters.length) {
      const rest = draft();
      putLettersBack(letters);
      held = { letters, rest, text: draft(), line: shell.active() };
      attachments.putBack(...files());
    }
    notice.hidden = false;
    tell();
    setTimeout(() => connection.dataset.state === "connected" && navigator.onLine !== false && back(), PAUSE);
  },
  // Takes out of the composer the prompts that are to be sent again; none when they were changed.
  release() {
    const taken = unchanged() ? held.letters : [];
    if (taken.length) {
      attachments.remove(files());
      setDraft(held.rest);
      shell.leave();
    }
    held = null;
    return taken;
  },
};

function tell() {
  if (notice.hidden) return;
  if (!held) words.textContent = gettext("The server cannot be reached. Your text is still here.");
  else if (unchanged()) words.textContent = gettext("The server cannot be reached. Your prompt is still here, and is sent when the server is back.");
  else words.textContent = gettext("The server cannot be reached. Your prompt is still here.");
}

function back() {
  if (notice.hidden) return;
  notice.hidden = true;
  form.dispatchEvent(new Event("resend"));
}

onPage(() => {
  held = null;
  notice.hidden = true;
});
field.addEventListener("input", tell);
document.addEventListener("page:connected", back);
