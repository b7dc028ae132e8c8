// A call that is proposed anew has a new card. What was written in the old one goes over: the words for the agent
// into their field, an edited text beside the new proposal, to be copied from.
import { gettext } from "./words.js";

const kept = new Map();

document.addEventListener("merge:gone", ({ target }) => {
  if (!target.matches(".permission")) return;
  const words = target.querySelector(".reject [name=words]").value;
  const texts = [...target.querySelectorAll(".content")].map((field) => field.value);
  if (words || texts.length) kept.set(target.dataset.call, { words, texts });
});

function restore(card) {
  const { words, texts } = kept.get(card.dataset.call);
  kept.delete(card.dataset.call);
  card.querySelector(".reject [name=words]").value = words;
  card.querySelector(".what").append(...texts.map(shown));
}

function shown(text) {
  const details = document.createElement("details");
  details.className = "was-written";
  const summary = Object.assign(document.createElement("summary"), { textContent: gettext("What you had written") });
  details.append(summary, Object.assign(document.createElement("pre"), { className: "command", textContent: text }));
  return details;
}

const list = document.getElementById("states");
if (list) {
  new MutationObserver(() => {
    for (const card of document.querySelectorAll("#permissions .permission")) if (kept.has(card.dataset.call)) restore(card);
  }).observe(list, { childList: true, subtree: true });
}
