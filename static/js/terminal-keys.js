// What the keyboard of a touch screen lacks, below the terminals: Escape, Tab, Ctrl for the next character, arrows; and the whole
// screen. Loaded where fingers point.
import { gettext } from "./words.js";

const ESC = "\x1b";
const KEYS = [
  ["Esc", ESC, "Escape"],
  ["Tab", "\t", "Tab"],
  ["←", "D", gettext("Left")],
  ["↓", "B", gettext("Down")],
  ["↑", "A", gettext("Up")],
  ["→", "C", gettext("Right")],
  ["|", "|", gettext("Bar")],
  ["/", "/", gettext("Slash")],
  ["-", "-", gettext("Minus")],
];

// `current` gives the terminal (of xterm.js) that is shown, if one is.
export function keys(panel, current) {
  const row = Object.assign(document.createElement("div"), { className: "terminal-keys" });
  row.setAttribute("role", "toolbar");
  row.setAttribute("aria-label", gettext("Keys of the terminal"));
  const control = button(gettext("Ctrl"), gettext("Ctrl, with the next character"));
  control.setAttribute("aria-pressed", "false");
  const whole = button(gettext("Full"), gettext("Full screen"));
  whole.setAttribute("aria-pressed", "false");
  const [escape, tab, ...others] = KEYS.map(([face, code, name]) => {
    const made = button(face, name);
    made.dataset.code = code;
    return made;
  });
  row.append(escape, tab, control, ...others, whole);
  panel.append(row);

  const press = (on) => control.setAttribute("aria-pressed", String(on));
  const isPressed = () => control.getAttribute("aria-pressed") === "true";

  row.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus, and with it the keyboard
  row.addEventListener("click", ({ target }) => {
    const terminal = current();
    if (target === control) press(!isPressed());
    else if (target === whole) fill();
    else if (terminal && target.dataset.code) terminal.input(sequence(terminal, target.dataset.code));
    terminal?.focus();
  });

  function fill() {
    const full = !panel.hasAttribute("data-whole");
    panel.toggleAttribute("data-whole", full);
    whole.setAttribute("aria-pressed", String(full));
  }

  // The next character: of a keyboard with keys, or of one that only says what it writes.
  function instead(event, text) {
    if (!isPressed() || text?.length !== 1 || !event.target.closest(".terminal-screen")) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    press(false);
    current()?.input(String.fromCharCode(text.toUpperCase().charCodeAt(0) & 31));
  }
  panel.addEventListener("keydown", (event) => !event.isComposing && instead(event, event.key), true);
  panel.addEventListener("keypress", (event) => instead(event, event.key), true);
  panel.addEventListener("beforeinput", (event) => instead(event, event.data), true);
}

// Arrows are other sequences for a program that has asked for them (DECCKM).
function sequence(terminal, code) {
  if (!/^[A-D]$/.test(code)) return code;
  return `${ESC}${terminal.modes.applicationCursorKeysMode ? "O" : "["}${code}`;
}

function button(face, name) {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: face });
  made.setAttribute("aria-label", name);
  return made;
}
