// Questions of the agent: where the focus is on one, digits choose, Enter goes on to what is still open and then
// answers, Esc only leaves it. What was chosen and written survives a renewed list and a reload.
import { onPage } from "./page.js";

const KEPT = "question:";
const states = document.getElementById("states"); // nothing asks on the page for a new session
const prompt = document.getElementById("prompt");
const hasKeyboard = matchMedia("(pointer: fine)");
const seen = new Set();
let answering = false;

const formOf = (node) => node.closest?.("form.question");
// A letter where nothing is written.
const isWord = ({ key, target }) => key.length === 1 && !/[\d ]/.test(key) && !target.matches("[type=text]");

function remember(form) {
  sessionStorage.setItem(KEPT + form.id, JSON.stringify([...new FormData(form)]));
}

function restore(form) {
  for (const [name, value] of JSON.parse(sessionStorage.getItem(KEPT + form.id) || "[]")) {
    for (const field of [...form.elements].filter((element) => element.name === name)) {
      if (["radio", "checkbox"].includes(field.type)) field.checked ||= field.value === value;
      else if (!field.value) field.value = value;
    }
  }
}

// A question takes the keyboard from nobody who may be about to write: an empty prompt has it for the next words.
function invite(form) {
  if (hasKeyboard.matches && document.activeElement === document.body) form.querySelector("h2").focus({ preventScroll: true });
}

function renewed() {
  for (const form of document.querySelectorAll("form.question")) {
    restore(form);
    if (!seen.has(form.id)) invite(form);
    seen.add(form.id);
  }
  if (!answering || document.activeElement !== document.body) return;
  answering = false;
  if (hasKeyboard.matches) prompt?.focus({ preventScroll: true });
}

function choose(fieldset, number) {
  const field = fieldset.querySelectorAll(".choice > :is([type=radio], [type=checkbox])")[number - 1];
  if (!field) return;
  field.focus();
  field.click();
}

const hasAnswer = (fieldset) =>
  Boolean(fieldset.querySelector(":checked") || fieldset.querySelector(".own [type=text]")?.value.trim());

function goOn(form, from) {
  const fieldsets = [...form.querySelectorAll("fieldset")];
  const open = fieldsets.slice(fieldsets.indexOf(from) + 1).find((fieldset) => !hasAnswer(fieldset));
  if (open) open.querySelector(".choice input").focus();
  else form.requestSubmit();
}

function pressed(event) {
  const form = formOf(event.target);
  if (!form || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (!states?.contains(form)) return;
    event.preventDefault();
    prompt.focus({ preventScroll: true });
  } else if (isWord(event) && prompt) {
    prompt.focus({ preventScroll: true }); // the words are for the prompt, from this letter on
  } else if (!event.target.matches("button, [role=region]")) {
    const fieldset = event.target.closest("fieldset") || form.querySelector("fieldset");
    if (event.key === "Enter") goOn(form, fieldset);
    else if (/^[1-9]$/.test(event.key) && !event.target.matches("[type=text]")) choose(fieldset, Number(event.key));
    else return;
    event.preventDefault();
  }
}

// Writing is choosing "in your own words", and choosing that is about to write.
function changed(event) {
  const form = formOf(event.target);
  if (!form) return;
  const own = event.target.closest(".own");
  const words = event.target.closest("fieldset")?.querySelector(".own [type=text]");
  if (own && event.target.type === "text") own.firstElementChild.checked = Boolean(event.target.value.trim());
  else if (own && event.target.checked) words.focus();
  // Words that were written before another choice was made stay to be read, and are not sent with it.
  if (words && event.target.type !== "checkbox") words.dataset.aside = String(!own);
  remember(form);
}

document.addEventListener("htmx:load", ({ target }) => target.matches?.("form.question") && restore(target));
document.addEventListener("keydown", pressed);
document.addEventListener("input", changed);
document.addEventListener("htmx:configRequest", ({ detail }) => {
  const form = formOf(detail.elt);
  for (const words of form?.querySelectorAll("[data-aside=true]") ?? []) detail.parameters.delete(words.name);
});
if (states) {
  new MutationObserver(renewed).observe(states, { childList: true, subtree: true });
}
document.addEventListener("focusin", (event) => {
  answering = Boolean(event.target.closest("form.question"));
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  const form = detail.elt && formOf(detail.elt);
  if (form && detail.successful) sessionStorage.removeItem(KEPT + form.id);
});
onPage(() => {
  answering = false;
  renewed();
});
