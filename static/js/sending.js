// What Enter sends, and where: a prompt, the edit of one that waits, or a command.
import { attachments } from "./attachments.js";
import { knows, run } from "./commands.js";
import { field, form, problem, putBack, sendOff } from "./composer.js";
import { editing } from "./editing.js";
import { mentions } from "./mentions.js";

const COMMAND = /^\/([\w.:/-]+)(?:\s+([\s\S]*))?$/;
const COMMAND_URL = "/pickers/command";
const STORED = "delivery";
const OTHER = { steer: "queue", queue: "steer" };

const outbox = []; // prompts sent off that have not arrived: the first is on its way
let flight = null; // that one, or the text of an edit
let other = false;
let again = false; // the text of an edit goes when those before it have arrived

// By Enter or by the button. A prompt leaves the field at once and waits for the one before it; an edit stays
// until it is saved.
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!editing.active()) take();
  else if (flight) again = Boolean(flight.files) || field.value !== flight.text; // else it was pressed twice
  deliver();
});

function take() {
  const [text, files] = [field.value, attachments.take()];
  if (flight && !text.trim() && !files.length) return; // it was pressed twice
  outbox.push({ text, files, delivery: delivery() });
  field.value = "";
  sendOff(...outbox.map((letter) => letter.text));
}

function delivery() {
  const chosen = form.querySelector("[name=delivery]:checked").value;
  return other ? OTHER[chosen] : chosen;
}

function deliver() {
  if (flight) return;
  if (outbox.length) flight = outbox[0];
  else {
    again = false;
    if (!editing.active()) return;
    flight = { text: field.value, edit: editing.url(), delivery: delivery() };
  }
  form.dispatchEvent(new Event("send"));
}

field.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229 || event.defaultPrevented) return;
  if (event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  other = event.altKey || event.ctrlKey || event.metaKey;
  form.requestSubmit();
  other = false;
});

form.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.elt !== form) return;
  const { parameters } = event.detail;
  parameters.set("text", flight.text);
  for (const name of mentions.within(flight.text)) parameters.append("agent_mention", name);
  for (const part of mentions.partsWithin(flight.text)) parameters.append("part_mention", part);
  parameters.set("delivery", flight.delivery);
  if (flight.edit) event.detail.path = flight.edit;
  if (!flight.files) return; // what is attached belongs to the draft
  for (const file of flight.files) parameters.append("file", JSON.stringify(file));
  const command = !flight.plain && flight.text.match(COMMAND);
  if (command) configureCommand(event, ...command.slice(1));
});

function configureCommand(event, name, words = "") {
  if (knows(name, words.trim())) {
    event.preventDefault();
    attachments.putBack(...flight.files);
    leave();
    proceed();
    run(name, words.trim());
    return;
  }
  const { parameters } = event.detail;
  const { project, session } = document.body.dataset;
  event.detail.path = COMMAND_URL;
  parameters.delete("text");
  for (const [key, value] of Object.entries({ session, project, name, arguments: words })) parameters.set(key, value);
}

function isUnknownCommand({ xhr, requestConfig }) {
  return xhr.status === 404 && requestConfig.path === COMMAND_URL;
}

form.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = event; // its `elt` is where the answer would go
  if (detail.requestConfig.elt === form && isUnknownCommand(detail)) detail.isError = false;
});

form.addEventListener("htmx:afterRequest", (event) => {
  const { elt, xhr } = event.detail;
  if (elt !== form) return;
  const arrived = xhr.status >= 200 && xhr.status < 400; // 0: the server was not reached
  if (isUnknownCommand(event.detail)) outbox[0].plain = true;
  else if (flight.files) (arrived ? leave : putAllBack)();
  else if (arrived && field.value === flight.text) editing.leave();
  proceed();
  if (!arrived) return;
  problem.replaceChildren();
  document.dispatchEvent(new CustomEvent("page:prompted"));
});

function proceed() {
  flight = null;
  if (again || outbox.length) setTimeout(deliver);
}

function leave() {
  outbox.shift();
  sendOff(...outbox.map((letter) => letter.text));
}

function putAllBack() {
  const letters = outbox.splice(0);
  putBack(...letters.map((letter) => letter.text));
  attachments.putBack(...letters.flatMap((letter) => letter.files));
}

form.addEventListener("htmx:sendError", (event) => {
  if (event.detail.elt === form) problem.textContent = "The server cannot be reached. Your prompt is still here.";
});

// Whether prompts steer or wait is remembered for every session.
for (const choice of form.querySelectorAll("[name=delivery]")) {
  if (choice.value === localStorage.getItem(STORED)) choice.checked = true;
  choice.addEventListener("change", () => localStorage.setItem(STORED, choice.value));
}
