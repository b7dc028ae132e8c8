// The terminals of a folder: which there are, the one that is shown, new, renamed, closed.
import { ask } from "./terminal-api.js";
import { controls } from "./terminal-controls.js";
import { toggle as read } from "./terminal-reader.js";
import { sizes } from "./terminal-size.js";
import { mark, rename, tab } from "./terminal-tabs.js";
import { View } from "./terminal-view.js";
import { gettext, interpolate } from "./words.js";

export class Panel {
  #entries = []; // { view, tab }
  #shown = null;
  #working = Promise.resolve();

  constructor(panel) {
    this.panel = panel;
    this.note = panel.querySelector(".terminal-note");
    const of = (made) => this.#entries.find((entry) => entry.tab === made) ?? this.#shown;
    controls(panel, {
      leave: () => this.#focus(),
      paths: () => this.#shown?.view.listPaths(),
      move: (made, step) => this.#move(of(made), step),
      select: (made) => this.#select(of(made), true),
      rename: (made) => this.#try(() => this.#rename(of(made))), // takes as long as somebody writes
      close: (made) => this.#run(() => this.#close(of(made))),
      open: () => this.#run(() => this.#open({})),
      again: () => this.#run(() => this.#again(this.#shown)),
      read,
      hide: () => panel.dispatchEvent(new CustomEvent("terminal:hide")),
    });
    sizes(panel);
    if (matchMedia("(pointer: coarse)").matches) import("./terminal-keys.js").then(({ keys }) => keys(panel, () => this.#shown?.view.terminal));
    window.addEventListener("online", () => this.#entries.forEach(({ view }) => view.retry()));
    this.#mark();
  }

  // What went wrong, in words. `start`: somebody wants to type, so there has to be a terminal; `id`: this is the one, in
  // the place of one that has ended and ran the same.
  async show(start, id) {
    await this.#run(async () => {
      const known = new Set(this.#entries.map(({ view }) => view.info.id));
      for (const info of await ask("GET")) if (!known.has(info.id)) this.#add(info);
      const wanted = this.#entries.find(({ view }) => view.info.id === id);
      if (this.#entries.length) this.#select(wanted ?? this.#shown ?? this.#entries[0], start);
      else if (start) await this.#open({});
      if (wanted) for (const entry of this.#entries.filter((one) => one !== wanted && this.#ranTheSame(one, wanted))) await this.#close(entry);
    });
    return this.note.hidden ? "" : this.note.textContent;
  }

  #ranTheSame({ view: { info } }, { view: { info: other } }) {
    return info.status === "exited" && info.title === other.title && info.args.join() === other.args.join();
  }

  get isEmpty() {
    return !this.#entries.length;
  }

  #add(info, at = this.#entries.length) {
    const view = new View(info, () => this.#mark());
    const entry = { view, tab: tab(info, view.element) };
    const tabs = this.panel.querySelector(".terminal-tabs");
    tabs.insertBefore(entry.tab, tabs.children[at] ?? null);
    this.panel.querySelector(".terminal-views").append(view.element);
    this.#entries.splice(at, 0, entry);
    return entry;
  }

  #select(entry, typing) {
    this.#shown = entry;
    for (const { view } of this.#entries) view.element.hidden = view !== entry.view;
    entry.view.start();
    this.#mark();
    entry.tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    if (typing) entry.view.terminal.focus();
  }

  async #open(wanted, replaced = null) {
    const at = replaced ? this.#entries.indexOf(replaced) : undefined;
    const info = await ask("POST", "", { title: this.#title(), ...wanted });
    this.#select(this.#add(info, at), true);
    if (replaced) await this.#close(replaced);
  }

  // The first free number: people tell their terminals apart by it.
  #title() {
    const taken = new Set(this.#entries.map(({ view }) => view.info.title));
    let number = 1;
    while (taken.has(`Terminal ${number}`)) number += 1;
    return `Terminal ${number}`;
  }

  async #close(entry) {
    const { view } = entry;
    await view.end();
    const at = this.#entries.indexOf(entry);
    this.#entries.splice(at, 1);
    entry.tab.remove();
    if (entry !== this.#shown) return;
    this.#shown = null;
    const next = this.#entries[at] ?? this.#entries[at - 1];
    if (next) this.#select(next, true);
    this.#mark();
    if (!next) this.panel.dispatchEvent(new CustomEvent("terminal:hide"));
  }

  async #rename(entry) {
    const { id, title } = entry.view.info;
    const wanted = await rename(entry.tab, title);
    if (wanted && wanted !== title) entry.view.info = await ask("PUT", `/${id}`, { title: wanted });
    this.#mark();
    entry.tab.querySelector("[role=tab]").focus();
  }

  #again(entry) {
    const { command, args, cwd, title } = entry.view.info;
    return this.#open({ command, args, cwd, title }, entry);
  }

  #move(entry, step) {
    const count = this.#entries.length;
    this.#select(this.#entries[(this.#entries.indexOf(entry) + step + count) % count], false);
    this.#focus();
  }

  #focus() {
    this.#shown.tab.querySelector("[role=tab]").focus();
  }

  #mark() {
    const names = this.#entries.map(({ tab }) => tab.querySelector("[role=tab]").id);
    this.panel.querySelector("[role=tablist]").setAttribute("aria-owns", names.join(" ")); // not the buttons between them
    for (const entry of this.#entries) mark(entry.tab, entry.view.info, entry === this.#shown);
    this.panel.querySelector("[data-terminal-do=rename]").disabled = !this.#shown;
  }

  // One after the other: a key that is pressed twice opens one terminal.
  #run(work) {
    this.#working = this.#working.then(() => this.#try(work));
    return this.#working;
  }

  async #try(work) {
    this.note.hidden = true;
    try {
      await work();
    } catch (error) {
      this.note.textContent = interpolate(gettext("That did not work: %(message)s"), { message: error.message });
      this.note.hidden = false;
    }
  }
}
