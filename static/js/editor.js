// The editor of a text file (CodeMirror), in a shadow root: its style sheets are made by script, which the page's policy
// allows only there. Loaded when the first file is opened.
import { closeBrackets, closeBracketsKeymap, completionKeymap } from "../vendor/@codemirror/autocomplete/index.js";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "../vendor/@codemirror/commands/index.js";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput } from "../vendor/@codemirror/language/index.js";
import { highlightSelectionMatches, search, searchKeymap } from "../vendor/@codemirror/search/index.js";
import { Compartment, EditorSelection, EditorState } from "../vendor/@codemirror/state/index.js";
import { EditorView, crosshairCursor, drawSelection, dropCursor, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers, rectangularSelection, showDialog } from "../vendor/@codemirror/view/index.js";
import { changes } from "./editor-changes.js";
import { code } from "./editor-code.js";
import { comments } from "./editor-comments.js";
import { drafts } from "./editor-drafts.js";
import { languageOf } from "./editor-languages.js";
import { colours, theme } from "./editor-theme.js";
import { post } from "./files-api.js";
import { gettext, interpolate, ngettext } from "./words.js";

const WRAP = "editor-wrap";
const DRAFT_PAUSE = 250; // milliseconds
const PHRASES = { next: gettext("Next"), previous: gettext("Previous"), all: gettext("All"), "match case": gettext("Case"), regexp: gettext("Regex"), "by word": gettext("Word"), replace: gettext("Replace"), "replace all": gettext("Replace all") };

class Editor {
  #wrap = new Compartment();
  #blame = new Compartment();
  #timer = 0;
  #ended = false;
  #toldUnsaved = false;

  constructor(section, hooks) {
    this.section = section;
    this.hooks = hooks;
    this.path = section.dataset.path;
    this.seen = section.dataset.seen;
    this.ending = ""; // chosen for all lines; empty: as they are
    this.locked = "locked" in section.dataset;
    const field = section.querySelector(".opened-text");
    this.base = field.value;
    const about = { path: this.path, seen: () => this.seen, unsaved: () => this.unsaved, save: () => this.save() };
    this.changes = changes(about);
    this.comments = comments(about);
    this.view = this.#made(field);
    this.#place();
    this.#mark();
    section.addEventListener("click", (event) => this.#press(event.target.closest("button")));
    section.addEventListener("submit", (event) => this.#settle(event));
    section.addEventListener("keydown", (event) => event.key === "Escape" && event.stopPropagation()); // it stops no turn
  }

  #made(field) {
    const host = document.createElement("div");
    host.className = "editor";
    const root = host.attachShadow({ mode: "open" });
    const language = new Compartment();
    field.after(host);
    const view = new EditorView({
      parent: root,
      root,
      state: EditorState.create({
        doc: this.base,
        extensions: [
          keymap.of([{ key: "Mod-s", run: () => (this.save(), true) }, { key: "Ctrl-g", run: () => (this.#goToLine(), true) }]),
          lineNumbers({ domEventHandlers: { click: (view, line) => this.changes.press(view, line) } }),
          this.changes.extension,
          this.comments.extension,
          this.#blame.of([]),
          highlightActiveLineGutter(),
          highlightSpecialChars(),
          history(),
          foldGutter(),
          drawSelection(),
          dropCursor(),
          EditorState.allowMultipleSelections.of(true),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          rectangularSelection(),
          crosshairCursor(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          search({ top: true }),
          EditorState.phrases.of(PHRASES),
          keymap.of([...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap, indentWithTab]),
          code(this.#about()),
          colours,
          theme,
          language.of([]),
          this.#wrap.of(localStorage.getItem(WRAP) ? EditorView.lineWrapping : []),
          EditorState.readOnly.of(this.locked),
          EditorView.contentAttributes.of({ "aria-label": field.getAttribute("aria-label") }),
          EditorView.updateListener.of((update) => this.#updated(update)),
        ],
      }),
    });
    languageOf(this.path).then((found) => found && view.dispatch({ effects: language.reconfigure(found) }));
    return view;
  }

  #about() {
    return {
      path: this.path,
      save: () => this.save(),
      put: (text) => this.#put(text),
      open: this.hooks.open,
      show: (title, places) => this.#show(title, places),
    };
  }

  // Places in files, to go to.
  #show(title, places) {
    const box = this.section.querySelector(".opened-problem");
    const list = document.createElement("ul");
    list.className = "opened-places";
    list.setAttribute("aria-label", title);
    for (const { path, line, column, text } of places) {
      const button = Object.assign(document.createElement("button"), { type: "button" });
      const where = Object.assign(document.createElement("span"), { className: "soft", textContent: `${path}:${line}` });
      button.append(where, Object.assign(document.createElement("code"), { textContent: text }));
      button.addEventListener("click", () => this.hooks.open(path, { line, column }));
      const item = document.createElement("li");
      item.append(button);
      list.append(item);
    }
    this.#complain(`${title}: ${places.length}`, [[gettext("Close"), () => (this.#complain(), this.focus())]]);
    box.append(list);
    list.querySelector("button").focus();
  }

  get text() {
    return this.view.state.doc.toString();
  }

  get unsaved() {
    const { doc } = this.view.state;
    return Boolean(this.ending) || doc.length !== this.base.length || doc.toString() !== this.base;
  }

  selected() {
    const { state } = this.view;
    return state.sliceDoc(state.selection.main.from, state.selection.main.to);
  }

  // The first and the last line of which something is selected, one where they are the same; null where nothing is.
  lines() {
    const { doc, selection: { main } } = this.view.state;
    if (main.empty) return null;
    return [...new Set([doc.lineAt(main.from).number, doc.lineAt(main.to - 1).number])];
  }

  go(line, column = 1) {
    const { doc } = this.view.state;
    const found = doc.line(Math.max(1, Math.min(line, doc.lines)));
    const place = Math.min(found.from + Math.max(0, column - 1), found.to);
    this.view.dispatch({ selection: EditorSelection.cursor(place), effects: EditorView.scrollIntoView(place, { y: "center" }) });
  }

  focus() {
    this.view.focus();
  }

  async #goToLine() {
    const { state } = this.view;
    const value = String(state.doc.lineAt(state.selection.main.head).number);
    const form = await showDialog(this.view, { label: gettext("Line"), input: { name: "line", type: "text", value }, submitLabel: gettext("Go"), focus: true }).result;
    const [line, column] = (form?.elements.line.value ?? "").split(":").map(Number);
    if (line) this.go(line, column || 1);
    this.focus();
  }

  #updated(update) {
    if (update.selectionSet || update.docChanged) this.#place();
    if (!update.docChanged) return;
    this.#mark();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#keep(), DRAFT_PAUSE);
  }

  #place() {
    const { doc, selection: { main, ranges } } = this.view.state;
    const line = doc.lineAt(main.head);
    const words = [interpolate(gettext("Line %(number)s, column %(column)s"), { number: line.number, column: main.head - line.from + 1 })];
    if (ranges.length > 1) words.push(interpolate(ngettext("%(count)s cursor", "%(count)s cursors", ranges.length), { count: ranges.length }));
    else if (!main.empty) words.push(interpolate(gettext("%(count)s selected"), { count: main.to - main.from }));
    this.section.querySelector(".opened-place-of").textContent = words.join(" · ");
  }

  #mark() {
    const { unsaved } = this;
    this.hooks.unsaved(unsaved);
    const button = this.section.querySelector("[data-opened-save]");
    if (button) button.disabled = !unsaved;
    if (unsaved) this.#tell(gettext("Not saved"), true);
    else if (this.#toldUnsaved) this.#tell("");
  }

  #tell(words, unsaved = false) {
    this.#toldUnsaved = unsaved;
    const state = this.section.querySelector(".opened-state");
    if (state.textContent !== words) state.textContent = words;
  }

  #complain(words = "", buttons = []) {
    const box = this.section.querySelector(".opened-problem");
    box.replaceChildren();
    if (!words) return;
    const line = Object.assign(document.createElement("p"), { className: "opened-note", textContent: words });
    for (const [label, act] of buttons) {
      const button = Object.assign(document.createElement("button"), { type: "button", className: "button", textContent: label });
      button.addEventListener("click", act);
      line.append(" ", button);
    }
    box.append(line);
  }

  async #keep() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    if (!this.unsaved) return drafts.drop(this.path);
    const kept = await drafts.put(this.path, this.#draft());
    if (!kept && !this.#ended) this.#tell(gettext("Not saved, and the browser keeps no more: save it"), true);
  }

  #draft() {
    return { base: this.base, seen: this.seen, text: this.text, ending: this.ending };
  }

  // What was written here before and never saved stands here again.
  async restore() {
    const draft = await drafts.get(this.path);
    if (!draft || this.locked) return;
    if (draft.seen === this.seen) {
      this.ending = draft.ending;
      this.#put(draft.text);
      this.#tell(gettext("Not saved: from before"), true);
    } else if (draft.text !== this.base) {
      Object.assign(this, { base: draft.base, seen: draft.seen, ending: draft.ending });
      this.#put(draft.text);
      await this.merge();
    }
    this.#mark();
  }

  // Another text in place of this one, as the smallest change: cursors and folds stay where they are.
  #put(text) {
    const old = this.text;
    if (text === old) return;
    let from = 0;
    while (from < old.length && from < text.length && old[from] === text[from]) from += 1;
    let [to, end] = [old.length, text.length];
    while (to > from && end > from && old[to - 1] === text[end - 1]) [to, end] = [to - 1, end - 1];
    this.view.dispatch({ changes: { from, to, insert: text.slice(from, end) } });
  }

  async save() {
    if (this.locked || this.saving || !this.unsaved) return !this.unsaved;
    this.saving = true;
    this.#tell(gettext("Saving"));
    const [text, ending] = [this.text, this.ending];
    const answer = await post("save", { path: this.path, seen: this.seen, text, ending }).catch(() => null);
    this.saving = false;
    const told = await answer?.json().catch(() => null);
    if (!told) return this.#failed(gettext("The server cannot be reached. Your text is kept in this browser."));
    if (answer.status === 409) return void this.merge();
    if (!answer.ok) return this.#failed(told.words);
    Object.assign(this, { base: text, seen: told.seen, ending: this.ending === ending ? "" : this.ending });
    this.section.dataset.seen = told.seen;
    this.#complain();
    this.#tell(gettext("Saved"));
    this.#mark();
    this.marks();
    await this.#keep();
    return true;
  }

  #failed(words) {
    this.#tell(gettext("Not saved"), true);
    this.#complain(words);
    return false;
  }

  // The file was changed on the disk: what was written here and what came there become one text, which is not saved
  // yet. Where both changed the same, the person says what it is to be.
  async merge(choices = {}) {
    const answer = await post("merge", { path: this.path, base: this.base, text: this.text, ...choices }).catch(() => null);
    const told = await answer?.json().catch(() => null);
    if (!told) return this.#failed(gettext("The server cannot be reached. Your text is kept in this browser."));
    if (!answer.ok) return this.#failed(told.words);
    if (told.form) {
      this.#tell(gettext("Not saved: changed on the disk too"), true);
      this.section.querySelector(".opened-problem").innerHTML = told.form;
      this.section.querySelector(".opened-problem input[type=radio]")?.focus();
      return;
    }
    Object.assign(this, { base: told.base, seen: told.seen });
    this.section.dataset.seen = told.seen;
    this.#put(told.text);
    this.#complain(this.unsaved ? gettext("It was changed on the disk too: both are in the text now. Look it over, and save it.") : "");
    this.#mark();
    this.focus();
    await this.#keep();
  }

  #settle(event) {
    if (!event.target.matches("[data-settle]")) return;
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.target));
    delete given.seen;
    this.merge(given);
  }

  // The file as it is now on the disk, as a page of the server's.
  async renew(fresh) {
    if (this.saving || fresh.dataset.seen === this.seen) return;
    const was = this.unsaved;
    if (was) return this.#complain(gettext("It has been changed on the disk."), [[gettext("Merge"), () => this.merge()]]);
    this.base = fresh.querySelector(".opened-text").value;
    this.seen = fresh.dataset.seen;
    this.section.dataset.seen = this.seen;
    this.#put(this.base);
    this.#complain();
    this.#mark();
    this.#tell(gettext("Changed on the disk"));
    this.marks();
  }

  // What the session changed in it, and what was said about it.
  marks() {
    this.changes.load(this.view);
    this.comments.load(this.view);
  }

  gone() {
    this.#complain(gettext("The file is gone from the disk. What is written here is kept: save it to make it anew."));
    this.seen = "";
  }

  #press(button) {
    if (!button) return;
    if (button.dataset.openedSave !== undefined) this.save();
    else if (button.dataset.openedEnding !== undefined) this.#turnEnding(button);
    else if (button.dataset.openedComment !== undefined) this.comments.begin(this.view);
    else if (button.dataset.openedWrap !== undefined) this.#turnWrap(button);
    else if (button.dataset.openedBlame !== undefined) this.#turnBlame(button);
    else if (button.dataset.openedHistory !== undefined) this.#history();
    else if (button.dataset.settleClose !== undefined) this.#complain();
  }

  #turnEnding(button) {
    const own = this.section.dataset.ending;
    const next = (this.ending || own) === "lf" ? "crlf" : "lf";
    this.ending = next === own ? "" : next;
    button.textContent = next.toUpperCase();
    this.#mark();
    this.#keep();
  }

  async #turnBlame(button) {
    const on = button.getAttribute("aria-pressed") !== "true";
    const place = this.section.querySelector("[data-opened-blamed]");
    const at = (commit) => {
      place.hidden = !commit;
      if (commit) Object.assign(place, { textContent: `${commit.author}: ${commit.subject}`, onclick: () => open(commit) });
    };
    const open = async ({ hash }) => (await import("./git.js")).showCommit(hash);
    at(null);
    const extension = on ? await (await import("./editor-blame.js")).blame(this.path, this.view.state.doc, { at, open }) : [];
    if (!extension) return;
    button.setAttribute("aria-pressed", String(on));
    this.view.dispatch({ effects: this.#blame.reconfigure(extension) });
  }

  async #history() {
    (await import("./git.js")).showHistory(this.path);
  }

  #turnWrap(button) {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    if (on) localStorage.setItem(WRAP, "yes");
    else localStorage.removeItem(WRAP);
    this.view.dispatch({ effects: this.#wrap.reconfigure(on ? EditorView.lineWrapping : []) });
  }

  async end() {
    this.#ended = true;
    await this.#keep();
    this.view.destroy();
  }

  // The page goes.
  hold() {
    if (this.#timer && this.unsaved) drafts.hold(this.path, this.#draft());
  }
}

const open = new Set();
for (const name of ["review:renewed", "turn:ended"]) document.addEventListener(name, () => open.forEach((editor) => editor.marks()));
addEventListener("pagehide", () => open.forEach((editor) => editor.hold()));

// `hooks.unsaved(is)` is told whether there is something to save; `hooks.open(path, how)` opens another file.
export async function edit(section, hooks) {
  const editor = new Editor(section, hooks);
  section.querySelector("[data-opened-wrap]").setAttribute("aria-pressed", String(Boolean(localStorage.getItem(WRAP))));
  open.add(editor);
  await editor.restore();
  editor.marks();
  const end = editor.end.bind(editor);
  editor.end = () => (open.delete(editor), end());
  return editor;
}
