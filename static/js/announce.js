// What a turn does, in words for those who do not see it: a line for each call, and that it has ended. What the
// agent writes is announced where it stands.
import { onPage } from "./page.js";
import { gettext } from "./words.js";

const news = document.getElementById("turn-news");
const LONGEST = 120; // characters of a line
const known = new Set();
let busy = false;

const isBusy = () => document.getElementById("activity")?.dataset.busy === "true";

function words(call) {
  const parts = [...call.querySelectorAll(":scope > details > summary :is(.tool-label, .tool-subtitle)")];
  return parts.map((part) => part.textContent.trim()).join(" ").replace(/\s+/g, " ").slice(0, LONGEST);
}

function fresh() {
  const last = document.getElementById("messages")?.lastElementChild;
  const calls = [...(last?.querySelectorAll(".tool[data-call]:not([data-status=pending])") ?? [])];
  const unknown = calls.filter((call) => !known.has(call.dataset.call));
  for (const call of unknown) known.add(call.dataset.call);
  return unknown.map(words);
}

function look() {
  const lines = fresh();
  const ends = busy && !isBusy();
  if (ends) lines.push(gettext("The agent is done."));
  busy = isBusy();
  if (lines.length) news.textContent = lines.join(". ");
  if (ends) document.dispatchEvent(new CustomEvent("turn:ended"));
}

onPage(() => {
  known.clear();
  fresh();
  busy = isBusy();
});
document.addEventListener("page:changed", look);
