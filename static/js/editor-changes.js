// The lines of a file that the session changed: marked at their numbers, with what was there before and the verdicts.
import { RangeSet, StateEffect, StateField } from "../vendor/@codemirror/state/index.js";
import { EditorView, GutterMarker, gutterLineClass, keymap, showTooltip } from "../vendor/@codemirror/view/index.js";
import { note, send, told } from "./files-api.js";
import { base } from "./review-state.js";
import { gettext, interpolate, ngettext } from "./words.js";

const place = StateEffect.define(); // [{ key, kept, line, count, removed }]
const show = StateEffect.define(); // one of them with `pos`, or null

class Mark extends GutterMarker {
  constructor(stretch) {
    super();
    this.stretch = stretch;
    this.elementClass = `cm-changed${stretch.count ? "" : " cm-removed"}${stretch.kept ? " cm-kept" : ""}`;
  }

  eq(other) {
    return this.stretch === other.stretch;
  }
}

function ranges(doc, stretches) {
  const found = [];
  for (const stretch of stretches) {
    for (let number = stretch.line; number < stretch.line + Math.max(1, stretch.count); number += 1) {
      const line = doc.line(Math.max(1, Math.min(number, doc.lines)));
      found.push(new Mark(stretch).range(line.from));
    }
  }
  return RangeSet.of(found, true);
}

const marks = StateField.define({
  create: () => RangeSet.empty,
  update(value, { changes, effects, state }) {
    const placed = effects.find((effect) => effect.is(place));
    return placed ? ranges(state.doc, placed.value) : value.map(changes);
  },
  provide: (field) => gutterLineClass.from(field),
});

// `about` has path, seen() (the content that the text was made of), unsaved() and save().
export function changes(about) {
  async function load(view) {
    const { session } = document.body.dataset;
    if (about.unsaved()) return; // they go with the lines until it is saved
    let told = { stretches: [], seen: about.seen() };
    if (session) {
      const answer = await fetch(`${base()}/lines?${new URLSearchParams({ path: about.path })}`).catch(() => null);
      if (answer?.ok) told = await answer.json();
    }
    if (about.unsaved() || (told.seen && told.seen !== about.seen()) || session !== document.body.dataset.session) return;
    view.dispatch({ effects: place.of(told.stretches) });
  }

  async function judge(view, what, stretch) {
    close(view);
    if (what === "undo" && about.unsaved() && !(await about.save())) return;
    const hunk = { path: about.path, hunk: stretch.key, scope: "session" };
    if (what === "undo") await told(send(`${base()}/undo`, { ...hunk, noted: "1" }));
    else await send(`${base()}/keep`, { ...hunk, on: what === "keep" ? "1" : "0" }).catch(() => note(gettext("The server cannot be reached.")));
    await load(view);
  }

  const nothing = (count) =>
    interpolate(ngettext("Nothing was here: the line is new.", "Nothing was here: %(count)s lines are new.", count), { count });

  function close(view) {
    view.dispatch({ effects: show.of(null) });
    view.focus();
  }

  function card(view, stretch) {
    const dom = Object.assign(document.createElement("div"), { className: "cm-hunk" });
    dom.setAttribute("role", "dialog");
    dom.setAttribute("aria-label", gettext("What was here before"));
    const before = stretch.removed
      ? Object.assign(document.createElement("pre"), { textContent: stretch.removed.replace(/\r?\n$/, "") })
      : Object.assign(document.createElement("p"), { textContent: nothing(stretch.count) });
    const row = document.createElement("p");
    const verdicts = [[stretch.kept ? gettext("Unmark") : gettext("Keep"), stretch.kept ? "unkeep" : "keep"], [gettext("Undo"), "undo"], [gettext("Close"), ""]];
    for (const [textContent, what] of verdicts) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "cm-button", textContent });
      button.addEventListener("click", () => (what ? judge(view, what, stretch) : close(view)));
      row.append(button);
    }
    dom.append(before, row);
    dom.addEventListener("keydown", (event) => event.key === "Escape" && (event.preventDefault(), close(view)));
    return { dom, mount: () => row.firstElementChild.focus() };
  }

  const shown = StateField.define({
    create: () => null,
    update(value, transaction) {
      for (const effect of transaction.effects) if (effect.is(show)) return effect.value && { pos: effect.value.pos, create: (view) => card(view, effect.value.stretch) };
      return transaction.docChanged ? null : value;
    },
    provide: (field) => showTooltip.from(field),
  });

  function places(view) {
    const starts = new Map();
    for (const cursor = view.state.field(marks).iter(); cursor.value; cursor.next()) {
      if (!starts.has(cursor.value.stretch)) starts.set(cursor.value.stretch, cursor.from);
    }
    return [...starts];
  }

  // The card of what begins at or after a place, or before it; at the end it begins anew.
  async function step(view, back) {
    if (!places(view).length) await load(view); // they may still be on their way
    const all = places(view);
    if (!all.length) return note(gettext("The session changed nothing here."));
    const { head } = view.state.selection.main;
    const found = back ? (all.findLast(([, from]) => from < head) ?? all.at(-1)) : (all.find(([, from]) => from > head) ?? all[0]);
    open(view, ...found);
  }

  function open(view, stretch, pos) {
    view.dispatch({ selection: { anchor: pos }, effects: [show.of({ stretch, pos }), EditorView.scrollIntoView(pos, { y: "center" })] });
  }

  function press(view, line) {
    let found = null;
    view.state.field(marks).between(line.from, line.to, (from, to, mark) => {
      found ??= mark.stretch;
    });
    if (!found) return false;
    open(view, found, line.from);
    return true;
  }

  const extension = [
    marks,
    shown,
    keymap.of([
      { key: "Alt-F3", run: (view) => (void step(view, false), true) },
      { key: "Shift-Alt-F3", run: (view) => (void step(view, true), true) },
    ]),
  ];
  return { extension, load, press };
}
