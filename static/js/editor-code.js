// What language servers know of the text in the editor: what is wrong in it, what a name is, where it is defined and used,
// how it goes on, another name, another form. Nothing of it where none is for the file.
import { root } from "./root.js";
import { autocompletion, completeAnyWord } from "../vendor/@codemirror/autocomplete/index.js";
import { lintGutter, lintKeymap, linter } from "../vendor/@codemirror/lint/index.js";
import { EditorView, hoverTooltip, keymap, showDialog } from "../vendor/@codemirror/view/index.js";
import { note, send } from "./files-api.js";
import { gettext, interpolate, ngettext } from "./words.js";

const MOST = 1_000_000; // characters of a text that is sent with each question
const PAUSE = 700; // milliseconds without a key until it is looked what is wrong
const SEVERITIES = { 1: "error", 2: "warning", 3: "info", 4: "hint" };
const WORD = /[\w$\u0080-\uffff]+$/;

const renamed = (count) => interpolate(ngettext("Renamed in %(count)s file.", "Renamed in %(count)s files.", count), { count });

// `about` has path, text(), save(), put(text) and show(title, places), `open(path, how)` leads there.
export function code(about) {
  let off = false;

  async function ask(view, op, at = view.state.selection.main.head, more = {}) {
    const { doc } = view.state;
    if (off || doc.length > MOST) return null;
    const line = doc.lineAt(at);
    const place = { line: line.number - 1, character: at - line.from };
    const answer = await send(`${root}/pickers/code`, { op, path: about.path, ...place, ...more, text: doc.toString() }).catch(() => null);
    const told = await answer?.json().catch(() => null);
    if (told?.off) off = true;
    return told;
  }

  const offset = (doc, { line, character }) => {
    if (line >= doc.lines) return doc.length;
    const found = doc.line(line + 1);
    return Math.min(found.from + character, found.to);
  };

  async function problems(view) {
    const { doc } = view.state;
    const told = await ask(view, "diagnostics");
    if (!told?.diagnostics || view.state.doc !== doc) return [];
    return told.diagnostics.map(({ start, end, severity, message, source }) => ({
      from: offset(doc, start),
      to: offset(doc, end),
      severity: SEVERITIES[severity],
      message,
      source,
    }));
  }

  async function hover(view, at) {
    const told = await ask(view, "hover", at);
    if (!told?.html) return null;
    const word = view.state.wordAt(at);
    const create = () => {
      const dom = Object.assign(document.createElement("div"), { className: "cm-about", innerHTML: told.html });
      return { dom };
    };
    return { pos: word?.from ?? at, end: word?.to ?? at, above: true, create };
  }

  async function complete(context) {
    const word = context.matchBefore(WORD);
    const after = context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos);
    if (!context.explicit && !word && ![".", ":", ">"].includes(after)) return null;
    const told = await ask(context.view, "completion", context.pos);
    if (context.aborted) return null;
    if (!told?.items?.length) return word || context.explicit ? completeAnyWord(context) : null;
    return { from: word?.from ?? context.pos, options: told.items, validFor: told.more ? undefined : /^[\w$\u0080-\uffff]*$/ };
  }

  async function go(view, at) {
    const told = await ask(view, "definition", at);
    const [first] = told?.places ?? [];
    if (first && told.places.length === 1) about.open(first.path, { line: first.line, column: first.column });
    else if (first) about.show(gettext("Definitions"), told.places);
    else if (told?.outside) note(interpolate(gettext("It is outside of the project: %(outside)s"), { outside: told.outside }));
    else if (!off) note(told?.words ?? gettext("No definition is known."));
  }

  async function references(view) {
    const told = await ask(view, "references");
    if (told?.places?.length) about.show(gettext("Uses"), told.places);
    else if (!off) note(told?.words ?? gettext("No use is known."));
  }

  async function rename(view) {
    const word = view.state.wordAt(view.state.selection.main.head);
    if (!word || off) return;
    const at = word.from;
    const form = await showDialog(view, { label: gettext("New name"), input: { name: "name", value: view.state.sliceDoc(word.from, word.to) }, submitLabel: gettext("Rename"), focus: true }).result;
    view.focus();
    const name = form?.elements.name.value.trim();
    if (!name || !(await about.save())) return;
    const told = await ask(view, "rename", at, { name });
    note(told?.files ? renamed(told.files) : (told?.words ?? gettext("Nothing was renamed.")));
  }

  async function format(view) {
    const told = await ask(view, "format");
    if (typeof told?.text === "string") about.put(told.text);
    else if (!off) note(told?.words ?? gettext("No language server formats this."));
  }

  // As in other editors, with Ctrl or Cmd. Where no server is, that makes one more cursor.
  function click(event, view) {
    const at = event.button === 0 && (event.ctrlKey || event.metaKey) && !off ? view.posAtCoords(event) : null;
    if (at === null) return false;
    event.preventDefault();
    void go(view, at);
    return true;
  }

  const run = (act) => (view) => (off ? false : (void act(view), true));
  return [
    linter(problems, { delay: PAUSE }),
    lintGutter(),
    hoverTooltip(hover, { hideOnChange: true }),
    autocompletion({ override: [complete] }),
    keymap.of([
      ...lintKeymap,
      { key: "F12", run: run((view) => go(view)) },
      { key: "Shift-F12", run: run(references) },
      { key: "F2", run: run(rename) },
      { key: "Shift-Alt-f", run: run(format) },
    ]),
    EditorView.domEventHandlers({ mousedown: click }),
  ];
}
