// A picture as large as the window allows. Loaded with the first one.
import { addSheet } from "./sheet.js";
import { gettext } from "./words.js";

await addSheet("picture");

export function button(words, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: words });
  if (act) made.addEventListener("click", act);
  return made;
}

// Opened by dialog.js.
export function dialog(label, ...content) {
  const made = document.createElement("dialog");
  made.className = "picture";
  made.setAttribute("aria-label", label);
  made.append(...content);
  document.getElementById("dialog").append(made);
  return made;
}

export function enlarge(src, alt) {
  const close = button(gettext("Close"));
  close.dataset.close = "";
  dialog(alt, Object.assign(new Image(), { src, alt }), close);
}
