// `@` completes files and `/` at the start completes commands, by keyboard or pointer.
import { run } from "./commands.js";
import { setPrompt } from "./composer.js";

const form = document.getElementById("composer");
const field = document.getElementById("prompt");
const box = document.getElementById("completions");
let wanted = 0;
let active = -1;

function word() {
  const before = field.value.slice(0, field.selectionStart);
  const command = before.match(/^\/(\w*)$/);
  if (command) return { kind: "commands", query: command[1], start: 0 };
  const file = before.match(/(?:^|\s)@(\S*)$/);
  return file && { kind: "files", query: file[1], start: before.length - file[1].length - 1 };
}

async function update() {
  const found = word();
  const turn = ++wanted;
  if (!found) return close();
  const url = `${form.dataset.complete}${found.kind}?q=${encodeURIComponent(found.query)}`;
  const answer = await fetch(url).catch(() => null);
  const html = answer?.ok ? await answer.text() : "";
  if (turn !== wanted) return;
  box.innerHTML = html;
  if (!box.firstElementChild) return close();
  box.hidden = false;
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
  if (option.dataset.command) {
    setPrompt("");
    run(option.dataset.command);
    return;
  }
  const after = field.value.slice(field.selectionStart);
  const before = `${field.value.slice(0, found.start)}${option.dataset.insert} `;
  setPrompt(before + after);
  field.setSelectionRange(before.length, before.length);
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
    event.preventDefault();
    event.stopPropagation();
    KEYS[event.key]();
  },
  { capture: true },
);
