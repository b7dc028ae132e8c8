// Whether a screen reader is served: xterm.js then keeps a readable copy of its lines, which takes time.

const STORED = "terminal-reader";
const button = document.querySelector("[data-terminal-do=read]");

export function reading() {
  return localStorage.getItem(STORED) === "on";
}

export function toggle() {
  localStorage.setItem(STORED, reading() ? "off" : "on");
  document.dispatchEvent(new CustomEvent("terminal:reading"));
  mark();
}

function mark() {
  button.setAttribute("aria-pressed", String(reading()));
}

mark();
