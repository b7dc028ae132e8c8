// The tab of a terminal, and the field in which its name is changed.
import { tell } from "./key-hint.js";
import { keysOf } from "./shortcuts.js";
import { gettext, interpolate } from "./words.js";

// Names come from anybody: characters that steer or turn text are shown as such.
function visible(text) {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{fffd}");
}

export function tab(info, view) {
  const made = document.getElementById("terminal-tab").content.cloneNode(true).firstElementChild;
  const name = made.querySelector("[role=tab]");
  name.id = `${info.id}-tab`;
  view.id = `${info.id}-view`;
  name.setAttribute("aria-controls", view.id);
  view.setAttribute("aria-labelledby", name.id);
  return made;
}

export function mark(made, info, selected) {
  const name = made.querySelector("[role=tab]");
  const shown = visible(info.title);
  const ended = info.status === "exited";
  name.textContent = shown;
  name.title = ended ? interpolate(gettext("%(shown)s: exited"), { shown }) : shown;
  tell(name, ["terminal-rename", "terminal-close"].flatMap(keysOf));
  name.tabIndex = selected ? 0 : -1;
  name.setAttribute("aria-selected", String(selected));
  made.classList.toggle("exited", ended);
  made.querySelector(".terminal-close").setAttribute("aria-label", interpolate(gettext("Close %(shown)s"), { shown }));
}

// The name that was typed; empty when it is to stay what it is.
export function rename(made, title) {
  const name = made.querySelector("[role=tab]");
  const field = Object.assign(document.createElement("input"), { value: title, maxLength: 1000 });
  field.setAttribute("aria-label", gettext("Name of the terminal"));
  name.hidden = true;
  made.prepend(field);
  made.scrollIntoView({ block: "nearest", inline: "nearest" });
  field.select();
  return new Promise((resolve) => {
    const done = (text) => {
      field.onblur = null;
      field.remove();
      name.hidden = false;
      resolve(text.trim());
    };
    field.onblur = () => done(field.value);
    field.onkeydown = (event) => {
      event.stopPropagation();
      if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
      event.preventDefault();
      done(event.key === "Enter" ? field.value : "");
    };
  });
}
