// What the agent does in a turn folds to the line beside its prompt: in all turns, as the person chose (edges.js lays it
// out before the first paint), or in one of them until the page is left. Loaded when the first is folded.
import { onPage } from "./page.js";
import { note } from "./toast.js";
import { gettext } from "./words.js";

const FOLDED = "turns-folded";
const root = document.documentElement;
const others = new Set(); // prompts whose turns are not as the person chose for all

const isFolded = (turn) => root.classList.contains(FOLDED) !== others.has(turn);

function tell(part = document) {
  for (const button of part.querySelectorAll("[data-fold-turn]")) button.setAttribute("aria-expanded", String(!isFolded(button.dataset.foldTurn)));
}

function lay() {
  for (const message of document.querySelectorAll("#messages > [data-turn]")) message.toggleAttribute("data-otherwise", others.has(message.dataset.turn));
  tell();
}

export function turn(id) {
  if (!others.delete(id)) others.add(id);
  lay();
}

// What is gone to, or found, is in sight.
export function showTurn(element) {
  const { turn: id } = element.closest("#messages > [data-turn]")?.dataset ?? {};
  if (id && isFolded(id)) turn(id);
}

export function foldTurns() {
  others.clear();
  if (root.classList.toggle(FOLDED)) localStorage.setItem(FOLDED, "yes");
  else localStorage.removeItem(FOLDED);
  lay();
  note(root.classList.contains(FOLDED) ? gettext("What the agent does is folded.") : gettext("What the agent does is shown."));
}

document.addEventListener("page:arrives", ({ detail }) => tell(detail));
for (const event of ["page:changed", "page:replaced", "htmx:afterSettle"]) document.addEventListener(event, lay);
onPage(() => {
  lay();
  return () => others.clear();
});
