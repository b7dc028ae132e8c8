// A file that is attached to the prompt, as a row: a picture is seen and can be edited, of a text the lines are told, and
// it can go into the prompt itself. Loaded with the first one.
import { field } from "./composer.js";
import { addSheet } from "./sheet.js";
import { gettext, interpolate, ngettext, number } from "./words.js";

await addSheet("attached");

function button(words, label, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: words });
  made.setAttribute("aria-label", label);
  made.addEventListener("click", act);
  return made;
}

function span(words, className) {
  return Object.assign(document.createElement("span"), { textContent: words, className });
}

// Null for what is no UTF-8.
function textOf({ url }) {
  const bytes = Uint8Array.from(atob(url.slice(url.indexOf(",") + 1)), (letter) => letter.charCodeAt(0));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

// What no canvas can write is only looked at.
async function open({ filename, mime, url }, replace) {
  if (mime === "image/gif") (await import("./picture.js")).enlarge(url, filename);
  else (await import("./picture-editor.js")).edit({ filename, mime, url }, replace);
}

// `replace` gets a `File` for the place of this one.
export function row(file, remove, replace) {
  const { filename, mime, url } = file;
  const item = document.createElement("li");
  const away = button("×", interpolate(gettext("Remove %(name)s"), { name: filename }), remove);
  away.className = "icon-button";
  item.append(span(filename, "attached-name"), away);
  if (url && mime.startsWith("image/")) item.prepend(picture(file, replace));
  if (url && mime === "text/plain") tell(item, away, file, remove);
  return item;
}

function picture(file, replace) {
  const label = file.mime === "image/gif" ? gettext("Enlarge %(name)s") : gettext("Enlarge and edit %(name)s");
  const made = button("", interpolate(label, { name: file.filename }), () => open(file, replace));
  made.className = "attached-picture";
  made.append(Object.assign(new Image(), { src: file.url, alt: "" }));
  return made;
}

function tell(item, away, file, remove) {
  const text = textOf(file);
  if (text === null) return;
  const lines = text.replace(/\n$/, "").split("\n").length;
  const told = interpolate(ngettext("%(count)s line", "%(count)s lines", lines), { count: number(lines) });
  const label = interpolate(gettext("Put it into the text: %(name)s"), { name: file.filename });
  away.before(span(told, "soft"), button(gettext("Put it into the text"), label, () => {
    remove();
    field.focus();
    document.execCommand("insertText", false, text); // as typed, so that the browser can take it back
  }));
}
