// <key-hint name="…">: the keys of a shortcut as they are now; a hidden one tells them in the title of the button or link
// in which it stands, and to screen readers. With `way` in place of a name it shows these keys.
import { keysOf } from "./shortcuts.js";
import { gettext, interpolate } from "./words.js";

export const MAC = /Mac|iP(hone|ad)/.test(navigator.platform);
const FACES = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc", Plus: "+", Mod: MAC ? "⌘" : "Ctrl", ...(MAC && { Meta: "⌘", Alt: "⌥" }) };
const SAID = { Mod: MAC ? "Meta" : "Control", Ctrl: "Control" };

const chords = (way) => way.split(" ").map((chord) => chord.split("+"));
const face = (key, held) => FACES[key] ?? (held && key.length === 1 ? key.toUpperCase() : key);
const faces = (way) => chords(way).map((keys) => keys.map((key) => face(key, keys.length > 1)));

export const label = (way) => faces(way).map((keys) => keys.join("+")).join(" ");

function drawn(way) {
  const keys = faces(way).flat().map((text) => Object.assign(document.createElement("kbd"), { textContent: text }));
  return keys.flatMap((key, at) => (at ? [" ", key] : [key]));
}

// A sequence has no such name.
function said(way) {
  const [keys, ...more] = chords(way);
  return more.length ? [] : [keys.map((key) => SAID[key] ?? (key.length === 1 ? key.toUpperCase() : key)).join("+")];
}

// For screen readers.
export function tell(element, own) {
  const names = own.flatMap(said).join(" ");
  if (names) element.setAttribute("aria-keyshortcuts", names);
  else element.removeAttribute("aria-keyshortcuts");
}

function entitle(element, own) {
  element.dataset.title ??= element.title;
  element.title = own.length ? `${element.dataset.title} (${own.map(label).reduce((one, other) => interpolate(gettext("%(one)s or %(other)s"), { one, other }))})`.trim() : element.dataset.title;
  tell(element, own);
}

class KeyHint extends HTMLElement {
  connectedCallback() {
    this.draw();
    document.addEventListener("keys:changed", this);
  }

  disconnectedCallback() {
    document.removeEventListener("keys:changed", this);
  }

  handleEvent() {
    this.draw();
  }

  draw() {
    const way = this.getAttribute("way");
    const own = way ? [way] : keysOf(this.getAttribute("name"));
    if (this.hidden) return entitle(this.closest("a, button, [title]"), own);
    this.replaceChildren(...own.flatMap((each, at) => (at ? [" or ", ...drawn(each)] : drawn(each))));
    this.closest("[data-keys-row]")?.toggleAttribute("hidden", !own.length);
  }
}
customElements.define("key-hint", KeyHint);
