// `@` completes files, agents and symbols, `;` snippets, `/` at the start completes commands, and after a command of a
// server what that suggests for its arguments, by keyboard or pointer. Loaded with the first letter that is typed.
import { run } from "./commands.js";
import { field, form, setPrompt } from "./composer.js";
import { composes } from "./ime.js";
import { mentions } from "./mentions.js";
import { onPage } from "./page.js";
import { shell } from "./shell.js";
import { quick, slow } from "./suggesting.js";
import { list } from "./suggestions.js";

const PAUSE = 150; // milliseconds without a key, before slow sources are asked
let wanted = 0;
let shown = ""; // the text that the suggestions are for

function beforeCursor() {
  return field.value.slice(0, field.selectionStart);
}

function word() {
  if (shell.active()) return undefined;
  const before = beforeCursor();
  const command = before.match(/^\/([\w.:/-]*)$/);
  if (command) return { kind: "commands", query: command[1], start: 0 };
  const named = before.match(/(?:^|\s)(?:@(\S*)|;([\w-]*))$/);
  const [kind, query] = named?.[2] === undefined ? ["files", named?.[1]] : ["snippets", named[2]];
  if (named) return { kind, query, start: before.length - query.length - 1 };
  const prompt = before.match(/^\/([\w./-]+:[\w.:/-]+)\s+([^\n]*)$/);
  const [open] = prompt?.[2].match(/(?:"[^"]*|\S*)$/) ?? [];
  return prompt && { kind: "arguments", query: open, start: before.length - open.length, name: prompt[1], written: prompt[2] };
}

async function update() {
  const found = word();
  const turn = ++wanted;
  if (!found) return close();
  const options = await quick(found.kind, found.query);
  if (turn !== wanted) return;
  shown = beforeCursor();
  list.fill(options);
  await new Promise((resolve) => setTimeout(resolve, PAUSE));
  if (turn !== wanted) return;
  for (const coming of slow(found)) {
    coming.then((more) => turn === wanted && list.append(more));
  }
}

function close() {
  wanted += 1;
  list.hide();
}

function choose(option) {
  const found = word();
  close();
  if (!found) return;
  const { command, mention, part, sent } = option.dataset;
  if (command && sent === undefined) {
    setPrompt("");
    run(command);
    return;
  }
  if (option.dataset.snippet !== undefined) return putIn(found.start, option.dataset.snippet);
  const insert = command ? `/${command}` : option.dataset.insert;
  if (mention) mentions.add(mention);
  if (part) mentions.attach(insert, JSON.parse(part));
  const after = field.value.slice(field.selectionStart);
  const goesOn = option.dataset.goesOn !== undefined;
  const before = `${field.value.slice(0, found.start)}${insert}${goesOn ? "" : " "}`;
  setPrompt(before + after);
  field.setSelectionRange(before.length, before.length);
  if (goesOn || found.kind === "arguments") update();
}

async function putIn(start, text) {
  const end = field.selectionStart;
  (await import("./snippets.js")).insert(text, start, end);
}

// What fits best of suggestions that are older than what was typed.
function fitting() {
  const query = word()?.query.toLowerCase() ?? "\n";
  const named = list.options().map((option) => ({ option, name: (option.dataset.command ?? option.dataset.insert).toLowerCase() }));
  const fits = [({ name }) => name === query, ({ name }) => name.startsWith(query), ({ name }) => name.includes(query)];
  return fits.map((fit) => named.find(fit)).find(Boolean)?.option;
}

onPage(close);
field.addEventListener("input", update);
field.addEventListener("blur", close);
list.onPick(choose);

const KEYS = {
  ArrowDown: () => list.move(1),
  ArrowUp: () => list.move(-1),
  Enter: () => choose(list.chosen()),
  Tab: () => choose(list.chosen()),
  Escape: close,
};
form.addEventListener(
  "keydown",
  (event) => {
    if (!list.isOpen() || composes(event) || event.target !== field || !KEYS[event.key]) return;
    const isOld = event.key === "Enter" && shown !== beforeCursor();
    const option = isOld && fitting();
    if (isOld && !option) return close();
    event.preventDefault();
    event.stopPropagation();
    if (option) choose(option);
    else KEYS[event.key]();
  },
  { capture: true },
);
update();
