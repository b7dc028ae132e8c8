// What draws a terminal: xterm.js with the colours of the page, its keys, its clipboard.
import { FitAddon } from "../vendor/@xterm/addon-fit/addon-fit.mjs";
import { Terminal } from "../vendor/@xterm/xterm/xterm.mjs";
import { onScheme } from "./scheme.js";
import { isOurs } from "./terminal-controls.js";
import { linkPaths } from "./terminal-paths.js";
import { reading } from "./terminal-reader.js";
import { font, open, theme } from "./terminal-style.js";
import { gettext, interpolate } from "./words.js";

const sheet = document.createElement("link");
sheet.rel = "stylesheet";
sheet.href = new URL("../vendor/@xterm/xterm/xterm.css", import.meta.url);
const styled = new Promise((resolve) => {
  sheet.onload = sheet.onerror = resolve;
});
document.head.append(sheet);
await styled;

// Keys that are the browser's or the page's; everything else is typed.
function typed(event, terminal) {
  if (isOurs(event)) return false;
  const control = event.ctrlKey && !event.altKey && !event.metaKey;
  if (control && event.code === "KeyV") return false;
  if (control && event.code === "KeyC" && (event.shiftKey || terminal.hasSelection())) {
    if (event.shiftKey) event.preventDefault();
    if (event.type === "keydown") copy(terminal);
    return false;
  }
  return true;
}

function copy(terminal) {
  if (terminal.hasSelection()) navigator.clipboard?.writeText(terminal.getSelection());
}

function hinting(host) {
  return {
    show: (target) => host.setAttribute("title", interpolate(gettext("Ctrl and click: %(target)s"), { target })),
    leave: () => host.removeAttribute("title"),
  };
}

// A program names the target of a link apart from its text: it is shown, and opened with Ctrl only.
function links(hints) {
  return {
    activate(event, address) {
      if ((event.ctrlKey || event.metaKey) && /^https?:/.test(address)) window.open(address, "_blank", "noopener,noreferrer");
    },
    hover: (_, address) => hints.show(address),
    leave: hints.leave,
  };
}

// `folder` is the one that it was opened in.
export function draw(host, label, folder) {
  const hints = hinting(host);
  const terminal = new Terminal({
    fontFamily: font(),
    fontSize: 13,
    linkHandler: links(hints),
    macOptionIsMeta: true,
    minimumContrastRatio: 4.5,
    screenReaderMode: reading(),
    scrollback: 5000,
    theme: theme(),
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  open(terminal, host);
  linkPaths(terminal, folder, hints);
  terminal.textarea.setAttribute("aria-label", label);
  terminal.textarea.setAttribute("aria-describedby", "terminal-hint");
  terminal.attachCustomKeyEventHandler((event) => typed(event, terminal));
  const leaving = new AbortController();
  const { signal } = leaving;
  onScheme(() => (terminal.options.theme = theme()), { signal });
  document.addEventListener("terminal:reading", () => (terminal.options.screenReaderMode = reading()), { signal });
  const observer = new ResizeObserver(() => host.offsetParent && fit.fit());
  observer.observe(host);
  return {
    terminal,
    dispose() {
      leaving.abort();
      observer.disconnect();
      terminal.dispose();
    },
  };
}
