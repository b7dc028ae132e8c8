// The line above the prompt, which says in short what there is of todos, waiting prompts, comments and the like, and
// unfolds to them. Whether it is unfolded is kept for each session; static/js/edges.js lays the page out by that.
import { onPage } from "./page.js";

const root = document.documentElement;
const UNFOLDED = "strip-unfolded";
const key = () => `strip:${document.body.dataset.session}`;
const toggle = () => document.getElementById("strip-toggle");

function say() {
  const words = [...document.querySelectorAll("#strip-blocks > [data-short]")].map((block) => block.dataset.short).join(" · ");
  const line = document.getElementById("strip-words");
  if (line.textContent !== words) line.textContent = words;
  toggle().setAttribute("aria-expanded", String(root.classList.contains(UNFOLDED)));
}

function unfold(open) {
  root.classList.toggle(UNFOLDED, open);
  if (open) localStorage.setItem(key(), "yes");
  else localStorage.removeItem(key());
  say();
}

document.addEventListener("click", (event) => event.target.closest("#strip-toggle") && unfold(!root.classList.contains(UNFOLDED)));
for (const name of ["page:changed", "page:replaced"]) document.addEventListener(name, say);
onPage(() => {
  root.classList.toggle(UNFOLDED, localStorage.getItem(key()) === "yes");
  say();
});
