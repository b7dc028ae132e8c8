// The prompts of the conversation once more, and after its first one those of others in the project: Up in an empty
// composer brings the last one, Up again those before it, Down the way back. The caret moves in a text as ever: Up goes on at its first place only, Down at its last
// one; in a text of one line both go on at either.
import { draft, field, form, setPrompt } from "./composer.js";
import { composes } from "./ime.js";
import { onPage } from "./page.js";
import { earlier, said } from "./recall.js";
import { shell } from "./shell.js";

let at = null; // the message that is shown
let text = ""; // what it says; once it is changed it is a draft as any other
let turn = 0;
let before = []; // prompts that the page does not show, as the server told them, the oldest first

const shown = () => [...document.querySelectorAll("#messages .message.user:not(:has(.steered))")].map((message) => message.id);
const browsing = () => at !== null && field.value === text;

function caretAllows(up) {
  if (field.selectionStart !== field.selectionEnd) return false;
  const [first, last] = [field.selectionStart === 0, field.selectionEnd === field.value.length];
  return (up ? first : last) || (!field.value.includes("\n") && (first || last));
}

// The promise of the one to be shown next; nothing where the way back ends.
function next(up) {
  const here = shown();
  before = before.filter(({ id }) => !here.includes(id)); // older messages came meanwhile
  const known = [...before.map(({ id }) => id), ...here];
  const place = (browsing() ? known.indexOf(at) : known.length) + (up ? -1 : 1);
  if (place < 0) return furtherBack(known[0] ?? "");
  if (place < before.length) return Promise.resolve(before[place]);
  return place < known.length ? said(known[place]).then((found) => found && { ...found, id: known[place] }) : null;
}

async function furtherBack(id) {
  const found = await earlier(id);
  if (found && found.id !== before[0]?.id) before.unshift(found);
  return found;
}

async function go(up) {
  const coming = next(up);
  if (!coming) return show({ id: null, text: "", shell: false }, up);
  const mine = ++turn;
  const written = field.value;
  const found = await coming;
  if (mine === turn && field.value === written && found) show(found, up);
}

function show(found, up) {
  if (found.shell) shell.enter();
  else shell.leave();
  at = found.id;
  text = found.text;
  setPrompt(text);
  const caret = up && text.includes("\n") ? 0 : text.length;
  field.setSelectionRange(caret, caret);
}

onPage(() => {
  at = null;
  text = "";
  before = [];
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
