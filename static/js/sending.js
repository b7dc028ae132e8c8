// What is sent, and where: a prompt, the edit of one that waits, or a command.
import { attachments } from "./attachments.js";
import { picked } from "./choice.js";
import { knows, run } from "./commands.js";
import { field, form, keep, problem, read, setPrompt } from "./composer.js";
import { delivery } from "./delivery.js";
import { editing } from "./editing.js";
import { messageId } from "./ids.js";
import { mentions } from "./mentions.js";
import { becomes, onPage } from "./page.js";
import { root } from "./root.js";
import { putLettersBack, shell } from "./shell.js";
import { shortcut } from "./shortcuts.js";
import { unsent } from "./unsent.js";

const COMMAND = /^\/([\w.:/-]+)(?:\s+([\s\S]*))?$/;
const COMMAND_URL = `${root}/pickers/command`;
const SHELL_URL = `${root}/pickers/shell`;

let outbox = []; // prompts sent off that have not arrived: the first is on its way
let flight = null; // that one, or the text of an edit
let other = false;
let again = false; // the text of an edit goes when those before it have arrived
let paused = false; // somebody is about to go to another page

onPage((goesOn) => {
  flight = null;
  again = paused = false;
  if (goesOn) return void setTimeout(deliver);
  outbox = [];
  putLettersBack(JSON.parse(read("outbox") || "[]"));
  keepOutbox();
});

export const sending = {
  // Nothing more is sent off. The promise is kept when what is on its way has arrived, or has not.
  pause() {
    paused = true;
    return flight && new Promise((resolve) => form.addEventListener("landed", resolve, { once: true }));
  },
  resume() {
    paused = false;
    deliver();
  },
};

// By Enter or by the button. A prompt leaves the field at once and waits for the one before it; an edit stays
// until it is saved.
form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!editing.active()) take();
  else if (flight) again = Boolean(flight.files) || field.value !== flight.text; // else it was pressed twice
  deliver();
});

function take() {
  const released = unsent.release();
  outbox.push(...released);
  const line = shell.active();
  const [text, files] = [field.value, line ? [] : attachments.take()];
  const twice = !text.trim() && !files.length && (flight || released.length); // the key was pressed
  if (!twice) outbox.push({ id: messageId(), text, shell: line, files, delivery: delivery(other), picked: picked() });
  setPrompt("");
  shell.leave();
  keepOutbox();
}

// What is on its way when the page is loaded anew comes back into the field.
function keepOutbox() {
  keep("outbox", outbox.length ? JSON.stringify(outbox.map(({ text, shell: line }) => ({ text, shell: line }))) : "");
}

// What is on its way to a server that says nothing any more would be so for minutes.
document.addEventListener("page:silent", () => flight && window.htmx.trigger(form, "htmx:abort"));

form.addEventListener("resend", () => {
  outbox.push(...unsent.release());
  keepOutbox();
  deliver();
});

function deliver() {
  if (flight || paused) return;
  if (outbox.length) flight = outbox[0];
  else {
    again = false;
    if (!editing.active()) return;
    flight = { text: field.value, edit: editing.url(), delivery: delivery(other) };
  }
  const read = flight.files && attachments.read(flight.files);
  if (read) read.then(send, unread);
  else send();
}

const send = () => form.dispatchEvent(new Event("send"));

// A file could not be read: nothing is sent without it unless the person says so.
function unread() {
  putAllBack();
  proceed();
}

const here = { within: (element) => element === field, typing: true };
// In the large editor a key sends only with Ctrl or Cmd, as chosen.
const isLarge = () => form.hasAttribute("data-large");
const isHeld = ({ ctrlKey, metaKey }) => ctrlKey || metaKey;
shortcut("send", (event) => (!isLarge() || isHeld(event)) && submit(event, false), here);
shortcut("send-other", (event) => submit(event, !isLarge() || !isHeld(event)), here);

function submit(event, otherWay) {
  if (event.repeat) return; // it is held
  other = otherWay;
  form.requestSubmit();
  other = false;
}

form.addEventListener("htmx:configRequest", (event) => {
  if (event.detail.elt !== form) return;
  const { parameters } = event.detail;
  parameters.set("text", flight.text);
  for (const name of mentions.within(flight.text)) parameters.append("agent_mention", name);
  for (const part of mentions.partsWithin(flight.text)) parameters.append("part_mention", part);
  parameters.set("delivery", flight.delivery);
  if (flight.edit) event.detail.path = flight.edit;
  if (!flight.files) return; // what is attached belongs to the draft
  parameters.set("message_id", flight.id);
  for (const [name, value] of Object.entries(flight.picked)) parameters.set(name, value); // as it was first sent
  for (const file of flight.files) parameters.append("file", JSON.stringify(file));
  if (flight.shell) return configureLine(event);
  const command = !flight.plain && flight.text.match(COMMAND);
  if (command) configureCommand(event, ...command.slice(1));
});

function configureLine({ detail }) {
  const { project, session } = document.body.dataset;
  detail.path = SHELL_URL;
  for (const name of ["text", "delivery"]) detail.parameters.delete(name);
  for (const [key, value] of Object.entries({ session, project, command: flight.text })) detail.parameters.set(key, value);
}

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
  return requestConfig.path === COMMAND_URL && xhr.getResponseHeader("HX-Trigger")?.includes('"unknown"');
}

form.addEventListener("htmx:afterRequest", (event) => {
  const { elt, xhr } = event.detail;
  if (elt !== form) return;
  const arrived = xhr.status >= 200 && xhr.status < 400;
  if (!xhr.status) unsent.hold(emptied()); // the server was not reached
  else if (isUnknownCommand(event.detail)) outbox[0].plain = true;
  else if (flight.files) (arrived ? leave : putAllBack)();
  else if (arrived && field.value === flight.text) editing.leave();
  const next = arrived && !document.body.dataset.session && xhr.getResponseHeader("HX-Redirect");
  if (next) {
    becomes(next.split("/").pop());
    keepOutbox();
  }
  proceed();
  if (!arrived || outbox[0]?.plain) return;
  problem.replaceChildren();
  document.dispatchEvent(new CustomEvent("page:prompted"));
});

function proceed() {
  flight = null;
  form.dispatchEvent(new Event("landed"));
  if (again || outbox.length) setTimeout(deliver);
}

function leave() {
  outbox.shift();
  keepOutbox();
}

function emptied() {
  const letters = outbox.splice(0);
  keepOutbox();
  return letters;
}

function putAllBack() {
  const letters = emptied();
  putLettersBack(letters);
  attachments.putBack(...letters.flatMap((letter) => letter.files));
}
