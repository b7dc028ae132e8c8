// Which commit each line of a file is from, beside its number. Loaded when it is first asked for.
import { RangeSet, StateField } from "../vendor/@codemirror/state/index.js";
import { EditorView, GutterMarker, gutter } from "../vendor/@codemirror/view/index.js";
import { note } from "./files-api.js";
import { root } from "./root.js";
import { gettext } from "./words.js";

const dayOf = (time) => new Date(time).toISOString().slice(0, 10);

class Mark extends GutterMarker {
  constructor(commit, first) {
    super();
    this.commit = commit;
    this.first = first;
  }

  eq(other) {
    return this.commit === other.commit && this.first === other.first;
  }

  toDOM() {
    const words = this.first ? `${dayOf(this.commit.time)} ${this.commit.author}` : "";
    const element = Object.assign(document.createElement("span"), { textContent: words, title: `${this.commit.short} ${this.commit.subject}` });
    return element;
  }
}

function ranges(doc, { commits, lines }) {
  const found = [];
  for (let number = 1; number <= Math.min(doc.lines, lines.length); number += 1) {
    const commit = commits[lines[number - 1]];
    if (commit) found.push(new Mark(commit, lines[number - 2] !== lines[number - 1]).range(doc.line(number).from));
  }
  return RangeSet.of(found);
}

// The extension that shows it, null where git does not know. `at(commit)` is told the one of the line with the cursor, or
// null; `open(commit)` is asked for by a click.
export async function blame(path, doc, { at, open }) {
  const { project, session } = document.body.dataset;
  const answer = await fetch(`${root}/p/${project}/git/blame?${new URLSearchParams({ file: path, session: session ?? "" })}`).catch(() => null);
  const told = answer?.ok ? await answer.json() : { problem: gettext("The server cannot be reached.") };
  if (told.problem) return note(told.problem), null;
  const marks = StateField.define({
    create: () => ranges(doc, told),
    update: (value, { changes }) => value.map(changes),
  });
  const of = (state, from, to = from) => {
    let found = null;
    state.field(marks, false)?.between(from, to, (_, __, mark) => {
      found ??= mark.commit;
    });
    return found;
  };
  const here = (state) => of(state, state.doc.lineAt(state.selection.main.head).from);
  const click = (view, line) => {
    const commit = of(view.state, line.from);
    if (commit) open(commit);
    return Boolean(commit);
  };
  return [
    marks,
    gutter({ class: "cm-blame", markers: (view) => view.state.field(marks), domEventHandlers: { click } }),
    EditorView.updateListener.of((update) => (update.selectionSet || update.transactions.length) && at(here(update.state))),
  ];
}
