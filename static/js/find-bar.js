// Shows the find of a conversation. It hears what is typed before the rest of it is loaded; its keys in its field are the
// browser's own.
import { form } from "./composer.js";
import { shortcut } from "./shortcuts.js";

const bar = document.getElementById("find-bar");
const field = document.getElementById("find-words");

function show() {
  if (!form.dataset.base || document.activeElement === field) return false;
  const chosen = getSelection();
  const words = document.getElementById("messages").contains(chosen.anchorNode) ? chosen.toString().trim() : "";
  const before = bar.hidden ? document.activeElement : null;
  bar.hidden = false;
  if (words && words.length <= field.maxLength && !words.includes("\n")) field.value = words;
  field.focus();
  field.select();
  import("./find-within.js").then(({ begin }) => begin(before), (unloaded) => {
    field.blur(); // what is hidden has the keyboard until the next frame, which the next press may be ahead of
    bar.hidden = true;
    before?.focus();
    throw unloaded;
  });
}

shortcut("find-within", show, { within: (element) => !document.querySelector("dialog[open]") && !element.closest?.("#beside, #terminal") });
