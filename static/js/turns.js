// The turn that is under way: what is going on in it, and what it offers when it goes wrong.
import { run } from "./commands.js";
import { onPage } from "./page.js";

const LAST = "#messages > .message:last-child";

function doing() {
  const cards = document.querySelectorAll(`${LAST} .tool[data-status=running]`);
  const summary = [...cards].at(-1)?.querySelector("summary");
  const words = [".tool-label", ".tool-subtitle"].map((part) => summary?.querySelector(part)?.textContent ?? "");
  return words.join(" ").trim();
}

// The cards tell it, so the line says the same and no request is made for it.
function show() {
  const place = document.querySelector("[data-doing]");
  const words = place ? doing() : "";
  if (place && place.textContent !== words) place.textContent = words;
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-other-model]")) return;
  run("stop");
  run("models");
});
for (const event of ["page:changed", "page:replaced"]) document.addEventListener(event, show);
onPage(show);
