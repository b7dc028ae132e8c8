// Paths that a terminal shows lead to the file, at the line that is named with them, where there is such a file: Ctrl (or Cmd)
// and a click, or a list of those on the screen.
import { openFile } from "./files.js";
import { find, pathsIn } from "./paths.js";
import { gettext } from "./words.js";

const MOST_ROWS = 12; // of one line that was wrapped

const wraps = (buffer, row) => buffer.getLine(row)?.isWrapped ?? false;

// The line that a row is of, with the place of each of its characters.
function lineAt(buffer, row) {
  let [first, last] = [row, row];
  while (wraps(buffer, first) && row - first < MOST_ROWS) first -= 1;
  while (wraps(buffer, last + 1) && last - row < MOST_ROWS) last += 1;
  const places = [];
  let text = "";
  for (let y = first; y <= last; y += 1) {
    const line = buffer.getLine(y);
    for (let x = 0; x < (line?.length ?? 0); x += 1) {
      const cell = line.getCell(x);
      if (!cell.getWidth()) continue; // the second half of a wide one
      const characters = cell.getChars() || " ";
      for (let unit = 0; unit < characters.length; unit += 1) places.push({ x: x + 1, y: y + 1 });
      text += characters;
    }
  }
  return { text, places, last };
}

// Those of the project. `folder` is the terminal's.
async function known(named, folder) {
  const there = named.length ? await find([...new Set(named.map(({ path }) => path))], folder) : null;
  return named.filter(({ path }) => there?.get(path)).map((one) => ({ ...one, file: there.get(one.path) }));
}

const go = ({ file, line, column }) => openFile(file, { line, column });

// `hints` tells of a link under the pointer: show(words) and leave().
export function linkPaths(terminal, folder, hints) {
  terminal.registerLinkProvider({
    async provideLinks(y, give) {
      const { text, places } = lineAt(terminal.buffer.active, y - 1);
      const links = await known(pathsIn(text), folder);
      give(links.map((one) => ({
        range: { start: places[one.index], end: places[one.index + one.whole.length - 1] },
        text: one.whole,
        activate: (event) => (event.ctrlKey || event.metaKey) && go(one),
        hover: () => hints.show(one.whole),
        leave: hints.leave,
      })));
    },
  });
}

const element = (tag, values, ...children) => {
  const made = Object.assign(document.createElement(tag), values);
  made.append(...children);
  return made;
};

function entry(one) {
  const button = element("button", { type: "button", className: "quiet mono", textContent: one.whole });
  button.dataset.close = "";
  button.addEventListener("click", () => go(one));
  return element("li", {}, button);
}

// A dialog with the paths that can be seen, the lowest first: that is the newest.
export async function listPaths(terminal, folder) {
  const buffer = terminal.buffer.active;
  const named = [];
  for (let row = buffer.viewportY; row < buffer.viewportY + terminal.rows; row += 1) {
    const { text, last } = lineAt(buffer, row);
    named.push(...pathsIn(text));
    row = last;
  }
  const links = await known(named.reverse(), folder);
  const each = [...new Map(links.map((one) => [`${one.file}:${one.line}`, one])).values()];
  const dialog = element("dialog", { className: "terminal-paths" });
  dialog.setAttribute("aria-labelledby", "terminal-paths-title");
  const title = element("h2", { id: "terminal-paths-title", textContent: gettext("Paths on the screen") });
  const nothing = element("p", { className: "soft", textContent: gettext("No file of the project is named there.") });
  const close = element("button", { type: "button", className: "button", textContent: gettext("Close") });
  close.dataset.close = "";
  dialog.append(title, each.length ? element("ul", {}, ...each.map(entry)) : nothing, element("p", { className: "dialog-row" }, close));
  dialog.addEventListener("keydown", (event) => step(dialog, event));
  document.getElementById("dialog").append(dialog);
}

function step(dialog, event) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const buttons = [...dialog.querySelectorAll("li button")];
  if (!by || !buttons.length) return;
  event.preventDefault();
  buttons[(buttons.indexOf(document.activeElement) + by + buttons.length) % buttons.length].focus();
}
