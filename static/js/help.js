// The help: by its key outside of a text, and by the buttons that ask for it.
import { shortcut } from "./shortcuts.js";

export function openHelp() {
  document.getElementById("help").showModal();
}

shortcut("help", openHelp);
document.addEventListener("click", (event) => event.target.closest("[data-help]") && openHelp());
