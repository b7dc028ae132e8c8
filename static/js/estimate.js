// How much of the window the prompt will take, once that is worth a word: of a long text, or with something attached. Loaded
// when it is.
import { attachments } from "./attachments.js";
import { context } from "./choice.js";
import { field, form } from "./composer.js";
import { onPage, thisPage } from "./page.js";
import { LONG } from "./typing.js";

const PAUSE = 400; // milliseconds without a key
const line = document.createElement("p");
line.id = "estimate";
line.className = "estimate";
line.setAttribute("role", "status");
form.querySelector(".composer-row").before(line);

let due = 0;
let turn = 0;

const isText = ({ mime }) => mime === "text/plain";
const bytesOf = (text) => new TextEncoder().encode(text).length;
const sizeOf = ({ url }) => Math.floor(((url.length - url.indexOf(",") - 1) * 3) / 4); // of base64

async function ask() {
  const mine = ++turn;
  const here = thisPage();
  const files = attachments.whole();
  const texts = files.filter(isText);
  if (form.matches("[data-shell], [data-editing]") || (field.value.length < LONG && !files.length)) return line.replaceChildren();
  const bytes = bytesOf(field.value) + texts.reduce((sum, file) => sum + sizeOf(file), 0);
  const { project, session, model } = context();
  const query = new URLSearchParams({ project, session, model: model ?? "", bytes, files: files.length - texts.length });
  const answer = await fetch(`${form.dataset.estimate}?${query}`).catch(() => null);
  const words = answer?.ok ? await answer.text() : "";
  if (mine === turn && here()) line.innerHTML = words;
}

function soon() {
  clearTimeout(due);
  due = setTimeout(ask, PAUSE);
}

for (const name of ["draft:written", "draft:attached"]) document.addEventListener(name, soon);
document.getElementById("choice").addEventListener("htmx:afterSettle", soon); // another model was chosen
onPage(() => {
  line.replaceChildren();
  soon();
});
