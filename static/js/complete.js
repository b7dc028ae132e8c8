// `@` completes files and agents, `/` at the start completes commands, by keyboard or pointer.
import { run } from "./commands.js";
import { field, form, setPrompt } from "./composer.js";
import { mentions } from "./mentions.js";

const AGENTS = "/pickers/";
const box = document.getElementById("completions");
let wanted = 0;
let active = -1;
let shown = ""; // the text that the suggestions are for

function beforeCursor() {
  return field.value.slice(0, field.selectionStart);
}

function word() {
  const before = beforeCursor();
  const command = before.match(/^\/([\w.:/-]*)$/);
  if (command) return { kind: "commands", theirs: "commands", query: command[1], start: 0 };
  const file = before.match(/(?:^|\s)@(\S*)$/);
  return file && { kind: "files", theirs: "mentions", query: file[1], start: before.length - file[1].length - 1 };
}

async function update() {
  const found = word();
  const turn = ++wanted;
  if (!found) return close();
  const { project, session } = document.body.dataset;
  const [ours, theirs] = await Promise.all([
    options(`${form.dataset.complete}${found.kind}`, { q: found.query }),
    options(`${AGENTS}${found.theirs}`, { q: found.query, project, session }),
  ]);
  if (turn !== wanted) return;
  fill(ours, theirs, found.kind);
}

// The options at a URL; none where nobody answers.
async function options(url, query) {
  const answer = await fetch(`${url}?${new URLSearchParams(query)}`).catch(() => null);
  const page = new DOMParser().parseFromString(answer?.ok ? await answer.text() : "", "text/html");
  return [...page.querySelectorAll("[role=option]")];
}

// What the browser carries out comes before commands of the same name that are sent.
function fill(ours, theirs, kind) {
  const names = ours.map((option) => option.dataset.command);
  for (const option of theirs) option.dataset.sent = "";
  const sent = theirs.filter((option) => !names.includes(option.dataset.command ?? ""));
  box.replaceChildren(...(kind === "files" ? [...sent, ...ours] : [...ours, ...sent]));
  if (!box.firstElementChild) return close();
  [...box.children].forEach((option, at) => (option.id = `option-${at}`));
  box.hidden = false;
  shown = beforeCursor();
  field.setAttribute("aria-expanded", "true");
  select(0);
}

function close() {
  wanted += 1;
  box.hidden = true;
  box.replaceChildren();
  field.setAttribute("aria-expanded", "false");
  field.removeAttribute("aria-activedescendant");
}

function select(index) {
  const options = [...box.children];
  active = (index + options.length) % options.length;
  options.forEach((option, at) => option.setAttribute("aria-selected", String(at === active)));
  field.setAttribute("aria-activedescendant", options[active].id);
  options[active].scrollIntoView({ block: "nearest" });
}

function choose(option) {
  const found = word();
  close();
  if (!found) return;
  const { command, mention, sent } = option.dataset;
  if (command && sent === undefined) {
    setPrompt("");
    run(command);
    return;
  }
  const insert = command ? `/${command}` : option.dataset.insert;
  if (mention) mentions.add(mention);
  const after = field.value.slice(field.selectionStart);
  const before = `${field.value.slice(0, found.start)}${insert} `;
  setPrompt(before + after);
  field.setSelectionRange(before.length, before.length);
}

// Suggestions may be older than what was typed.
function stillFits() {
  const { command, insert } = box.children[active].dataset;
  return (command ?? insert).toLowerCase().includes(word()?.query.toLowerCase() ?? "\n");
}

field.addEventListener("input", update);
field.addEventListener("blur", close);
box.addEventListener("pointerdown", (event) => {
  event.preventDefault();
  const option = event.target.closest("[role=option]");
  if (option) choose(option);
});

const KEYS = {
  ArrowDown: () => select(active + 1),
  ArrowUp: () => select(active - 1),
  Enter: () => choose(box.children[active]),
  Tab: () => choose(box.children[active]),
  Escape: close,
};
form.addEventListener(
  "keydown",
  (event) => {
    if (box.hidden || event.isComposing || event.target !== field || !KEYS[event.key]) return;
    if (event.key === "Enter" && shown !== beforeCursor() && !stillFits()) return close();
    event.preventDefault();
    event.stopPropagation();
    KEYS[event.key]();
  },
  { capture: true },
);
