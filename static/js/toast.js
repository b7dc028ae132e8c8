// Notes that leave by themselves, and what to say when a request fails.

import { leave as goes } from "./motion.js";
import { root } from "./root.js";
import { gettext, interpolate } from "./words.js";

const STAY = 8_000;
const KEPT = "toast";
const box = document.getElementById("toasts");

export function note(text) {
  const toast = document.createElement("div");
  toast.className = "toast";
  toast.append(Object.assign(document.createElement("span"), { textContent: text }));
  box.append(toast);
}

function arrived(toast) {
  if (document.body.dataset.session && toast.dataset.gone?.split(" ").includes(document.body.dataset.session)) {
    window.htmx.location.href = `${root}/p/${document.body.dataset.project}/`;
  }
  if (!toast.matches("[data-stays]")) setTimeout(() => leave(toast), STAY);
}

// Not while somebody is about to use it.
function leave(toast) {
  if (toast.matches(":hover, :focus-within")) setTimeout(() => leave(toast), STAY);
  else goes(toast);
}

new MutationObserver((changes) => {
  for (const change of changes) for (const node of change.addedNodes) if (node.matches?.(".toast")) arrived(node);
}).observe(box, { childList: true });

box.addEventListener("click", (event) => {
  if (event.target.closest("[data-dismiss]")) goes(event.target.closest(".toast"));
});

// What asked may have left the page before its answer comes, and from there htmx finds nothing.
const isOurs = (name, { target }) => name === "htmx:oobErrorNoTarget" && target === "#toasts";
document.addEventListener("htmx:oobErrorNoTarget", ({ type, detail }) => {
  if (!isOurs(type, detail)) return;
  box.append(...detail.content.childNodes);
  window.htmx.process(box);
});
document.addEventListener("htmx:responseError", (event) => {
  if (event.target.closest?.("[data-quiet]")) return;
  const { xhr } = event.detail;
  const said = xhr.getResponseHeader("Content-Type")?.startsWith("text/plain") && xhr.responseText;
  const words = {
    401: gettext("You are signed out: open the link of the terminal again."),
    404: gettext("This is gone."),
    413: gettext("This is too large to send."),
  };
  note(words[xhr.status] || said || interpolate(gettext("That did not work (%(status)s). The log says more."), { status: xhr.status }));
});
document.addEventListener("htmx:sendError", (event) => {
  if (!event.target.closest?.("#composer, [data-quiet]")) note(gettext("The server cannot be reached."));
});
// What is said above, and a request that was given up for a newer one, is no error of the page: htmx writes those that
// have an `error` to the console.
const SAID = ["htmx:responseError", "htmx:sendError", "htmx:sendAbort", "htmx:afterRequest"];
window.htmx.logger = (element, name, detail) => (SAID.includes(name) || isOurs(name, detail)) && delete detail.error;
// htmx makes a promise for each request, and rejects it with nothing: said above, or a newer request took its place. What
// is loaded when it is used, and was not caught, has done nothing: it is fetched again with the next press. Each engine has
// words of its own for that.
const UNLOADED = /dynamically imported module|^Importing a module script failed/;
window.addEventListener("unhandledrejection", (event) => {
  const unloaded = event.reason instanceof TypeError && UNLOADED.test(event.reason.message);
  if (unloaded) note(gettext("This could not be loaded: the server cannot be reached. Try it again."));
  if (unloaded || event.reason === undefined) event.preventDefault();
});

// Where a document is loaded after all, what the session that is gone can be brought back with goes along.
window.addEventListener("pagehide", () => {
  const gone = box.querySelector("[data-gone]");
  if (gone) sessionStorage.setItem(KEPT, gone.outerHTML);
});

const kept = sessionStorage.getItem(KEPT);
if (kept) {
  sessionStorage.removeItem(KEPT);
  box.insertAdjacentHTML("beforeend", kept);
  box.lastElementChild.removeAttribute("data-gone");
  window.htmx.process(box.lastElementChild);
}
