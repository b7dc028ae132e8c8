// The pages of people: copying a link or a token, which are shown once.
import "./toast.js";
import { gettext } from "./words.js";

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = gettext("Copied");
  } catch {
    button.textContent = gettext("Not allowed");
  }
  setTimeout(() => (button.textContent = gettext("Copy")), 1500);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});
