// The help: by its key outside of a text, and by the buttons that ask for it.
import { root } from "./root.js";
import { shortcut } from "./shortcuts.js";

function openHelp() {
  window.htmx.ajax("GET", `${root}/help`, { target: "#dialog" });
}

shortcut("help", openHelp);
document.addEventListener("click", (event) => event.target.closest("[data-help]") && openHelp());
