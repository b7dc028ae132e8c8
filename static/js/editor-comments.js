// Comments on lines of a file: below them, written, worded anew, taken back. They go to the agent with the next ones that
// are sent (`#comment-tray`).
import { RangeSet, StateEffect, StateField } from "../vendor/@codemirror/state/index.js";
import { Decoration, EditorView, WidgetType, keymap } from "../vendor/@codemirror/view/index.js";
import { note, send } from "./files-api.js";
import { base } from "./page.js";
import { gettext, interpolate } from "./words.js";

const place = StateEffect.define(); // [{ id, start, end, outdated, state, words, text }]
const write = StateEffect.define(); // { start, end }, or null

const make = (name, values = {}, ...within) => {
  const element = Object.assign(document.createElement(name), values);
  element.append(...within);
  return element;
};

class Box extends WidgetType {
  constructor(of, draw) {
    super();
    this.of = of;
    this.draw = draw;
  }

  // What is written in it stays when it is told of anew, or its lines have moved.
  eq({ of }) {
    return ["id", "state", "text", "outdated"].every((name) => of[name] === this.of[name]);
  }

  toDOM(view) {
    return make("div", {}, this.draw(view, this.of)); // what is in it may be exchanged
  }

  ignoreEvent() {
    return true;
  }
}

// `about` has path, seen() (the content that the text was made of), unsaved() and save().
export function comments(about) {
  const url = () => `${base()}/files/comments`;

  async function load(view) {
    const { session } = document.body.dataset;
    if (about.unsaved()) return; // they go with the lines until it is saved
    let told = { comments: [], seen: about.seen() };
    if (session) {
      const answer = await fetch(`${url()}?${new URLSearchParams({ path: about.path })}`).catch(() => null);
      if (answer?.ok) told = await answer.json();
    }
    if (about.unsaved() || told.seen !== about.seen() || session !== document.body.dataset.session) return;
    view.dispatch({ effects: place.of(told.comments) });
  }

  function begin(view) {
    if (!document.body.dataset.session) return note(gettext("A comment belongs to a session: send a prompt first.")), true;
    const { doc, selection: { main } } = view.state;
    const start = doc.lineAt(main.from).number;
    const end = main.empty ? start : doc.lineAt(main.to - 1).number;
    view.dispatch({ effects: write.of({ start, end }) });
    return true;
  }

  function close(view) {
    view.dispatch({ effects: write.of(null) });
    view.focus();
  }

  // A field with a button; `done(text)` says why it was refused.
  function field(view, label, text, verb, done, cancel) {
    const words = make("textarea", { value: text, rows: 3, maxLength: 20000 });
    words.setAttribute("aria-label", label);
    const problem = make("p", { className: "cm-comment-problem" });
    problem.setAttribute("role", "alert");
    const button = make("button", { type: "submit", className: "cm-button", textContent: verb });
    const form = make("form", { className: "cm-comment" }, make("p", { className: "cm-comment-head", textContent: label }), words, problem,
      make("p", { className: "cm-comment-do" }, button, make("button", { type: "button", className: "cm-button", textContent: gettext("Cancel"), onclick: cancel })));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      button.disabled = true;
      const refused = await done(words.value);
      button.disabled = false;
      problem.textContent = refused ?? "";
      view.requestMeasure();
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.isComposing) (event.preventDefault(), cancel());
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) (event.preventDefault(), form.requestSubmit());
    });
    setTimeout(() => words.focus()); // once it stands in the text
    return form;
  }

  function writing(view, { start, end }) {
    const label = start === end ? interpolate(gettext("Comment on line %(start)s"), { start }) : interpolate(gettext("Comment on lines %(start)s–%(end)s"), { start, end });
    return field(view, label, "", gettext("Add comment"), async (text) => {
      if (about.unsaved() && !(await about.save())) return gettext("It is about the text as it is saved: save it first.");
      const { start: first, end: last } = view.state.field(state).writing ?? { start, end };
      const answer = await send(url(), { path: about.path, seen: about.seen(), start: first, end: last, text }).catch(() => null);
      if (!answer) return gettext("The server cannot be reached. Your text is still here.");
      if (!answer.ok) return (await answer.json()).words;
      close(view);
      await load(view);
    }, () => close(view));
  }

  function shown(view, comment) {
    const box = make("div", { className: "cm-comment" });
    const head = make("p", { className: "cm-comment-head" }, make("span", { textContent: comment.words }));
    if (comment.outdated) head.append(make("span", { className: "cm-comment-warn", textContent: gettext("Outdated: these lines have gone") }));
    else if (comment.start !== comment.end) head.append(make("span", { textContent: interpolate(gettext("lines %(start)s–%(end)s"), comment) }));
    if (comment.state === "draft") head.append(make("button", { type: "button", className: "cm-button", textContent: gettext("Edit"), onclick: () => box.replaceWith(edited()) }));
    const remove = make("button", { type: "button", className: "cm-button", textContent: gettext("Remove"), onclick: () => judged("remove", {}) });
    remove.setAttribute("aria-label", gettext("Remove this comment"));
    head.append(remove);
    box.append(head, make("p", { className: "cm-comment-text", textContent: comment.text }));

    async function judged(what, values) {
      const answer = await send(`${base()}/comments/${comment.id}${what && `/${what}`}`, values).catch(() => null);
      if (!answer) return note(gettext("The server cannot be reached.")), gettext("The server cannot be reached. Your text is still here.");
      if (!answer.ok) return new DOMParser().parseFromString(await answer.text(), "text/html").body.textContent.trim();
      view.focus();
      await load(view);
    }

    function edited() {
      const form = field(view, gettext("Comment"), comment.text, gettext("Save"), (text) => judged("", { text }), () => form.replaceWith(box));
      return form;
    }
    return box;
  }

  const after = (doc, line, box) => {
    const { to } = doc.line(Math.max(1, Math.min(line, doc.lines)));
    return Decoration.widget({ widget: box, block: true, side: 1 }).range(to);
  };

  function drawn(doc, { told, writing: at }) {
    const boxes = told.map((one) => after(doc, one.end, new Box(one, shown)));
    if (at) boxes.push(after(doc, at.end, new Box(at, writing)));
    return RangeSet.of(boxes, true);
  }

  const state = StateField.define({
    create: () => ({ told: [], writing: null, boxes: RangeSet.empty }),
    update(value, { changes, effects, state: { doc } }) {
      let next = changes.empty ? value : { ...value, boxes: value.boxes.map(changes) };
      for (const effect of effects) {
        if (effect.is(place)) next = { ...next, told: effect.value };
        else if (effect.is(write)) next = { ...next, writing: effect.value };
        else continue;
        next.boxes = drawn(doc, next);
      }
      return next;
    },
    provide: (field) => EditorView.decorations.from(field, ({ boxes }) => boxes),
  });

  return { extension: [state, keymap.of([{ key: "Shift-F2", run: begin }])], load, begin };
}
