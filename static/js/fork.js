// The dialogs that fork a session, and that move it: whether files can come along, and where the text of a prompt goes.
// Loaded with the first of them.
import { gettext } from "./words.js";

// What is there to come along has been looked at.
export function looked(answer = document.getElementById("fork-files")) {
  if (answer && !answer.querySelector(".pulse")) document.querySelector("#fork [name=with][value=files]").disabled = !answer.querySelector("[data-possible]");
}
document.addEventListener("htmx:afterSwap", ({ target }) => target.id === "fork-files" && looked(target));

document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (!detail.elt.closest("#fork") || detail.requestConfig.verb !== "post") return;
  const files = document.querySelector("#fork [name=with][value=files]").checked;
  document.getElementById("fork-result").replaceChildren(words(files ? gettext("Making the worktree") : gettext("Forking")));
});

function words(text) {
  const line = document.createElement("p");
  line.className = "review-note pulse";
  line.textContent = text;
  return line;
}

// The fork's page finds a prompt that is to be changed as the draft of its composer (static/js/composer.js).
document.addEventListener("fork:made", ({ detail }) => {
  const dialog = document.getElementById("fork");
  const { draft } = dialog.dataset;
  dialog.querySelector("#fork-make").hidden = true;
  if (!draft) return;
  try {
    localStorage.setItem(`draft:${detail.project}:${detail.session}`, draft);
  } catch {
    // What is too large for the browser's store is not carried over; it is still in the original.
  }
});

// What a browser keeps for a session goes along with it.
document.addEventListener("session:moved", ({ detail }) => {
  const [from, to] = [`:${detail.from}:${detail.session}`, `:${detail.project}:${detail.session}`];
  for (const key of Object.keys(localStorage).filter((one) => one.endsWith(from))) {
    localStorage.setItem(key.slice(0, -from.length) + to, localStorage.getItem(key));
    localStorage.removeItem(key);
  }
});
