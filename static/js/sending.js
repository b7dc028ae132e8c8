// What Enter sends, and where: a prompt, the edit of one that waits, or a command.
import { attachments } from "./attachments.js";
import { knows, run } from "./commands.js";
import { field, form, problem, setPrompt } from "./composer.js";
import { editing } from "./editing.js";
import { mentions } from "./mentions.js";

const COMMAND = /^\/([\w.:/-]+)(?:\s+([\s\S]*))?$/;
const COMMAND_URL = "/pickers/command";
const STORED = "delivery";
const OTHER = { steer: "queue", queue: "steer" };

let otherWay = false;
let asPrompt = false;
let sent = "";
let next = null; // what was written and sent off while the prompt before it was on its way

// By Enter or by the button: what is sent off while the prompt before it is on its way waits for it.
form.addEventListener("submit", (event) => {
  if (!form.matches(".htmx-request")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (field.value !== sent) next = { other: otherWay, plain: asPrompt }; // else it was pressed twice
}, true);

function submit({ other = false, plain = false }) {
  otherWay = other;
  asPrompt = plain;
  form.requestSubmit();
  otherWay = asPrompt = false;
}

field.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
  if (event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  submit({ other: event.altKey || event.ctrlKey || event.metaKey });
});

form.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.elt !== form) return;
  const { parameters } = event.detail;
  for (const name of mentions.within(field.value)) parameters.append("agent_mention", name);
  if (editing.url()) {
    event.detail.path = editing.url();
    return;
  }
  if (otherWay) parameters.set("delivery", OTHER[parameters.get("delivery")]);
  if (editing.active()) return; // what is attached belongs to the draft
  for (const file of attachments.all()) parameters.append("file", JSON.stringify(file));
  const command = !asPrompt && field.value.match(COMMAND);
  if (command) configureCommand(event, ...command.slice(1));
});

function configureCommand(event, name, words = "") {
  if (knows(name, words.trim())) {
    event.preventDefault();
    setPrompt("");
    run(name, words.trim());
    return;
  }
  const { parameters } = event.detail;
  const { project, session } = document.body.dataset;
  event.detail.path = COMMAND_URL;
  parameters.delete("text");
  for (const [key, value] of Object.entries({ session, project, name, arguments: words })) parameters.set(key, value);
}

form.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.elt === form) sent = field.value;
});

function isUnknownCommand({ xhr, requestConfig }) {
  return xhr.status === 404 && requestConfig.path === COMMAND_URL;
}

form.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = event; // its `elt` is where the answer would go
  if (detail.requestConfig.elt === form && isUnknownCommand(detail)) detail.isError = false;
});

// Only what was sent is cleared: the person may have typed on meanwhile.
form.addEventListener("htmx:afterRequest", (event) => {
  const { elt, xhr } = event.detail;
  if (elt !== form) return;
  const waiting = next;
  next = null;
  if (isUnknownCommand(event.detail)) setTimeout(() => submit({ plain: true }));
  if (xhr.status < 200 || xhr.status >= 400) return; // 0: the server was not reached
  if (waiting) setTimeout(submit, 0, waiting);
  problem.replaceChildren();
  if (!editing.active()) attachments.clear();
  if (field.value !== sent) return;
  if (editing.active()) editing.leave();
  else setPrompt("");
  document.dispatchEvent(new CustomEvent("page:prompted"));
});

form.addEventListener("htmx:sendError", (event) => {
  if (event.detail.elt === form) problem.textContent = "The server cannot be reached. Your prompt is still here.";
});

// Whether prompts steer or wait is remembered for every session.
for (const choice of form.querySelectorAll("[name=delivery]")) {
  if (choice.value === localStorage.getItem(STORED)) choice.checked = true;
  choice.addEventListener("change", () => localStorage.setItem(STORED, choice.value));
}
