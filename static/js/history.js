// The prompts of the conversation once more: Up in an empty composer brings the last one, Up again those before
// it, Down the way back. The caret moves in a text as ever: Up goes on at its first place only, Down at its last
// one; in a text of one line both go on at either.
import { draft, field, form, setPrompt } from "./composer.js";
import { composes } from "./ime.js";
import { onPage } from "./page.js";
import { said } from "./recall.js";
import { shell } from "./shell.js";

let at = null; // the message that is shown
let text = ""; // what it says; once it is changed it is a draft as any other
let turn = 0;

const prompts = () => [...document.querySelectorAll("#messages .message.user:not(:has(.steered))")].map((message) => message.id);
const browsing = () => at !== null && field.value === text;

function caretAllows(up) {
  if (field.selectionStart !== field.selectionEnd) return false;
  const [first, last] = [field.selectionStart === 0, field.selectionEnd === field.value.length];
  return (up ? first : last) || (!field.value.includes("\n") && (first || last));
}

function next(up) {
  const known = prompts();
  const place = browsing() ? known.indexOf(at) : known.length;
  return known[place + (up ? -1 : 1)];
}

async function go(up) {
  const wanted = next(up);
  if (!wanted) return up || show(null, "", false, up);
  const mine = ++turn;
  const before = field.value;
  const found = await said(wanted);
  if (mine !== turn || field.value !== before || !found) return;
  show(wanted, found.text, found.shell, up);
}

function show(id, words, line, up) {
  if (line) shell.enter();
  else shell.leave();
  at = id;
  text = words;
  setPrompt(words);
  const caret = up && words.includes("\n") ? 0 : words.length;
  field.setSelectionRange(caret, caret);
}

onPage(() => {
  at = null;
  text = "";
});

field.addEventListener("keydown", (event) => {
  const up = event.key === "ArrowUp";
  if (!up && event.key !== "ArrowDown") return;
  if (composes(event) || event.defaultPrevented || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
  if (form.hasAttribute("data-editing") || !caretAllows(up)) return;
  if (!(draft() === "" ? up : browsing())) return;
  event.preventDefault();
  go(up);
});
