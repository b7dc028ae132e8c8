// Requests about the files of the project. What is done on a page without a session belongs to one that the server
// makes for it (`X-Session`).
import { root } from "./root.js";
import { gettext } from "./words.js";

const { "X-CSRF-Token": token } = JSON.parse(document.body.getAttribute("hx-headers"));
let made = "";

const base = `${root}/p/${document.body.dataset.project}/files`;
const session = () => document.body.dataset.session || made;

// A path is as the session sees it: whole where it is in a folder beside the project.
export const address = (what, values = {}) => `${base}/${what}?${new URLSearchParams({ ...values, session: session() })}`;

export async function get(what, values = {}) {
  const answer = await fetch(address(what, values));
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

// The answer, also where the server refused; an error where it cannot be reached.
export async function send(url, values) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...values, session: session(), project: document.body.dataset.project })) {
    for (const one of Array.isArray(value) ? value : [value]) form.append(name, one);
  }
  const answer = await fetch(url, { method: "POST", headers: { "X-CSRF-Token": token }, body: form });
  made = answer.headers.get("X-Session") || made;
  return answer;
}

export const post = (what, values) => send(`${base}/${what}`, values);

// Says something of what was asked for, in the corner: the state of a file is another thing.
export function note(textContent) {
  document.getElementById("toasts").append(Object.assign(document.createElement("div"), { className: "toast", textContent }));
}

// Shows what the server says of what it was asked for, with a way back where there is one. Whether it was done.
export async function told(asked) {
  const answer = await asked.catch(() => null);
  const words = answer ? await answer.text() : "";
  if (!answer) note(gettext("The server cannot be reached."));
  else if (words) {
    const toasts = document.getElementById("toasts");
    toasts.insertAdjacentHTML("beforeend", words);
    window.htmx.process(toasts.lastElementChild);
  }
  return Boolean(answer?.ok);
}

export const act = (what, values) => told(post(what, values));
