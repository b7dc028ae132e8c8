// The switch of the terminals: a button and keys. The rest is loaded when they are first shown.
import { addSheet } from "./sheet.js";
import { shortcut } from "./shortcuts.js";
import { gettext } from "./words.js";

const MISSING = gettext("Terminals need xterm.js, which is not here. Fetch it with: python -m opencode_web.vendor");
const panel = document.getElementById("terminal");
const button = document.querySelector("[data-toggle-terminal]");
const note = panel.querySelector(".terminal-note");
const STORED = `terminal:${panel.dataset.directory}`;
let loading = null;
let before = null;

function load() {
  loading ??= Promise.all([import("./terminal-panel.js"), addSheet("terminal")]).then(([{ Panel }]) => {
    panel.hidden = false; // it is measured
    return new Panel(panel);
  });
  return loading;
}

async function show({ start, id }) {
  button.setAttribute("aria-expanded", "true");
  localStorage.setItem(STORED, "open");
  const shown = await load().catch(() => null);
  panel.hidden = false;
  if (!shown) loading = null;
  const problem = shown ? await shown.show(start, id) : MISSING;
  if (!start && !problem && shown.isEmpty) return hide();
  note.textContent = problem;
  note.hidden = !problem;
}

function hide() {
  const inside = panel.contains(document.activeElement);
  panel.hidden = true;
  button.setAttribute("aria-expanded", "false");
  localStorage.removeItem(STORED);
  if (inside) (before?.isConnected ? before : document.getElementById("prompt")).focus();
}

function toggle() {
  if (!panel.hidden && panel.contains(document.activeElement)) return hide();
  before = document.activeElement === document.body ? null : document.activeElement;
  return show({ start: true });
}

button.addEventListener("click", () => (panel.hidden ? toggle() : hide()));
panel.addEventListener("terminal:hide", hide);
document.addEventListener("terminal:show", ({ detail }) => show({ start: true, id: detail.id }));
shortcut("terminals", toggle);

if (localStorage.getItem(STORED)) show({ start: false });
