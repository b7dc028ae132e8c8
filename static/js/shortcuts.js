// Keys of the page, from the table that the server gives with it (a name and its keys) and tells anew when they change.
import { composes } from "./ime.js";

const TEXTS = "input:not([type=checkbox], [type=radio], [type=button], [type=range]), textarea, select, [contenteditable]";
const MODIFIERS = ["Control", "Shift", "Alt", "Meta", "AltGraph"];
const NAMED = { " ": "Space", "+": "Plus" };
const CUTS = /^(Ctrl|Meta)\+x$/;
const PAUSE = 1500; // milliseconds between the keys of a sequence

const bound = [];
let table = {};
let ways = new Map(); // by name, as a keyboard gives them
let begun = null; // the first key of a sequence: `chord`, `target`, `at`, and who `waits` for the second one

function know(keys) {
  table = keys;
  ways = new Map(Object.entries(keys).map(([name, own]) => [name, own.flatMap((way) => (way.includes("Mod+") ? ["Ctrl", "Meta"].map((held) => way.replaceAll("Mod", held)) : way))]));
}
know(JSON.parse(document.querySelector("meta[name=shortcuts]").content));

document.addEventListener("keys:known", ({ detail }) => {
  if (JSON.stringify(detail) === JSON.stringify(table)) return;
  know(detail);
  document.dispatchEvent(new CustomEvent("keys:changed"));
});

export const keysOf = (name) => table[name] ?? [];

// What was pressed, written as in the table. What AltGr gives is typed, also where it comes as Ctrl and Alt.
export function chordOf(event) {
  const key = event.ctrlKey && event.code === "Backquote" ? "`" : (NAMED[event.key] ?? event.key); // on some keyboards it waits for a letter
  const types = event.getModifierState("AltGraph") || (event.ctrlKey && event.altKey && event.key.length === 1);
  const held = types ? [] : [event.ctrlKey && "Ctrl", event.metaKey && "Meta", event.altKey && "Alt"].filter(Boolean);
  if (event.shiftKey && (held.length || event.key.length > 1 || key === "Space")) held.push("Shift");
  return [...held, held.length && key.length === 1 ? key.toLowerCase() : key].join("+");
}

const ofText = (chord) => !/(Ctrl|Meta)\+|^((Alt|Shift)\+)*(F\d+|Escape)$/.test(chord); // it types, or edits, or moves
const types = (chord) => /^(.|(Shift\+)?Space|Plus)$/.test(chord);

// For keys that only one element hears.
export function isPressed(name, event) {
  return ways.get(name).includes(chordOf(event));
}

export const isModifier = (event) => MODIFIERS.includes(event.key);

// `act(event)` is called when the keys of the name are pressed, and leaves them to others by answering false.
// `within(element)` says whether the element that has the focus is in their place; without it that is the whole page
// under no dialog. What would type, edit or move the caret is left to a text, but for keys that are heard there, `typing`,
// and do not type. `waits(true)` is called at the first key of a sequence, which then may take its time, and
// `waits(false)` when the next is something else.
export function shortcut(name, act, { within = onPage, typing = false, waits } = {}) {
  bound.push({ name, act, within, typing, waits });
}

// As if they had been pressed.
export function perform(name) {
  bound.find((one) => one.name === name)?.act();
}

const onPage = () => !document.querySelector("dialog[open]");

// A sequence comes before what its second key does by itself.
function heard(chord, sequence, target) {
  const inText = Boolean(target.matches?.(TEXTS)) && ofText(chord);
  const pressed = (way, allowed) => bound.filter((one) => ways.get(one.name).includes(way) && allowed(one) && one.within(target));
  const whole = sequence ? pressed(sequence, () => true) : [];
  return whole.length ? whole : pressed(chord, ({ typing }) => !inText || (typing && !types(chord)));
}

function begins(chord, target, { repeat }) {
  const inText = Boolean(target.matches?.(TEXTS)) && ofText(chord);
  if (inText || repeat) return [];
  return bound.filter(({ name, within }) => ways.get(name).some((way) => way.startsWith(`${chord} `)) && within(target));
}

function forget() {
  for (const { waits } of begun?.waits ?? []) waits(false);
  begun = null;
}

// Where something is selected, what cuts is no beginning.
function cuts(chord) {
  const { activeElement: field } = document;
  return CUTS.test(chord) && (field?.selectionStart !== field?.selectionEnd || !getSelection().isCollapsed);
}

document.addEventListener("keydown", (event) => {
  if (isModifier(event)) return;
  const before = begun;
  forget();
  if (composes(event) || event.defaultPrevented) return;
  const chord = chordOf(event);
  const [target] = event.composedPath(); // in an editor, which is a document of its own to the page
  const goesOn = before && !event.repeat && before.target === target && (before.waits.length || Date.now() - before.at < PAUSE);
  for (const { act } of heard(chord, goesOn && `${before.chord} ${chord}`, target)) {
    if (act(event) === false) continue;
    event.preventDefault();
    return;
  }
  const coming = cuts(chord) ? [] : begins(chord, target, event);
  if (!coming.length) return;
  begun = { chord, target, at: Date.now(), waits: coming.filter(({ waits }) => waits) };
  for (const { waits } of begun.waits) waits(true);
  if (/^(Ctrl|Meta)\+/.test(chord)) event.preventDefault();
});
document.addEventListener("pointerdown", forget);
