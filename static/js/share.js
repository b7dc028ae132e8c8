// Sharing: copy the address of the shared page.
import "./share-export.js";
import { gettext } from "./words.js";

async function copy(button) {
  const field = document.getElementById(button.dataset.copy);
  const said = document.getElementById("share-copied");
  field.select();
  try {
    await navigator.clipboard.writeText(field.value);
    said.textContent = gettext("Copied.");
  } catch {
    said.textContent = gettext("The browser does not allow it: the address is selected, copy it by hand.");
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});
