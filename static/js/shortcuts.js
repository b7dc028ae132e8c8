// Keys of the page, from the table that the server gives with it (a name and its keys).
const TABLE = JSON.parse(document.querySelector("meta[name=shortcuts]").content);
const WRITING = "input:not([type=checkbox], [type=radio], [type=button], [type=range]), textarea, select, [contenteditable]";
const PAUSE = 1500; // milliseconds between the keys of a sequence

const bound = [];
let before = { chord: "", at: 0 };

// What was pressed, written as in the table.
function chordOf(event) {
  const key = event.ctrlKey && event.code === "Backquote" ? "`" : event.key; // on some keyboards it waits for a letter
  const held = [event.ctrlKey && "Ctrl", event.metaKey && "Meta", event.altKey && "Alt"].filter(Boolean);
  if (event.shiftKey && (held.length || key.length > 1)) held.push("Shift");
  return [...held, held.length && key.length === 1 ? key.toLowerCase() : key].join("+");
}

const waysOf = (name) => TABLE[name].flatMap((way) => (way.includes("Mod+") ? [way.replace("Mod", "Ctrl"), way.replace("Mod", "Meta")] : [way]));

// For keys that only one element hears.
export function isPressed(name, event) {
  return waysOf(name).includes(chordOf(event));
}

// `act(event)` is called when the keys of the name are pressed, and leaves them to others by answering false.
// `within(element)` says whether the element that has the focus is in their place; without it that is the whole page
// under no dialog. Keys without Ctrl or Cmd are text while somebody is `typing`.
export function shortcut(name, act, { within = onPage, typing = false } = {}) {
  bound.push({ ways: waysOf(name), act, within, typing });
}

const onPage = () => !document.querySelector("dialog[open]");

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.defaultPrevented || ["Control", "Shift", "Alt", "Meta"].includes(event.key)) return;
  const chord = chordOf(event);
  const sequence = Date.now() - before.at < PAUSE ? `${before.chord} ${chord}` : "";
  const [target] = event.composedPath(); // in an editor, which is a document of its own to the page
  const writes = Boolean(target.matches?.(WRITING)) && !/^(Ctrl|Meta)\+/.test(chord);
  before = { chord: writes ? "" : chord, at: Date.now() };
  for (const { ways, act, within, typing } of bound) {
    if (!(ways.includes(sequence) || ways.includes(chord)) || (writes && !typing) || !within(event.target)) continue;
    if (act(event) === false) continue;
    event.preventDefault();
    return;
  }
});
