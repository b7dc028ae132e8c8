// One terminal: its screen, what is typed, its size, its end.
import { ask } from "./terminal-api.js";
import { Link } from "./terminal-link.js";
import { listPaths } from "./terminal-paths.js";
import { draw } from "./terminal-screen.js";
import { gettext, interpolate } from "./words.js";

const BEHIND = 4_000_000; // characters that may wait to be drawn
const SETTLED = 150; // milliseconds without a change of size

export class View {
  #replaying = true;
  #early = "";
  #waiting = 0;
  #resizing = 0;

  // `onEnd` is called when the program has exited or the terminal is gone.
  constructor(info, onEnd) {
    this.info = info;
    this.onEnd = onEnd;
    this.element = document.getElementById("terminal-view").content.cloneNode(true).firstElementChild;
    this.state = this.element.querySelector(".terminal-state");
    this.link = new Link(info.id, {
      begins: () => (this.#replaying = true),
      prints: (text) => this.#print(text),
      placed: () => this.#placed(),
      lost: () => this.#say("lost", gettext("Not connected: trying again")),
      ends: () => this.#ended(),
    });
  }

  // To be called when its element is in the page and shown.
  start() {
    if (this.screen) return;
    const host = this.element.querySelector(".terminal-screen");
    this.screen = draw(host, interpolate(gettext("Terminal %(title)s"), { title: this.info.title }), this.info.cwd);
    this.terminal = this.screen.terminal;
    this.terminal.onData((text) => this.#replaying || this.link.send(text));
    this.terminal.onKey(({ key }) => (this.#early += this.#replaying ? key : ""));
    this.terminal.onResize(() => this.#resize());
    this.link.open();
  }

  // What runs in it ends; throws Refused when the server did not hear of it.
  async end() {
    this.link.close();
    if (!this.info.gone) await ask("DELETE", `/${this.info.id}`).catch((error) => this.#unended(error));
    clearTimeout(this.#resizing);
    this.screen?.dispose();
    this.element.remove();
  }

  #unended(error) {
    if (error.status === 404) return;
    if (this.screen) this.link.open();
    throw error;
  }

  listPaths() {
    return listPaths(this.terminal, this.info.cwd);
  }

  retry() {
    if (this.state.dataset.state === "lost") this.link.open();
  }

  // Drawing that cannot follow: the server keeps what comes, and the latest of it is fetched afterwards.
  #print(text) {
    this.#waiting += text.length;
    this.terminal.write(text, () => (this.#waiting -= text.length));
    if (this.#waiting < BEHIND) return;
    this.link.close();
    this.terminal.write("", () => this.link.open());
  }

  // The screen answers questions of programs; those of a replay were answered when they were asked. So only
  // keys count meanwhile.
  #placed() {
    if (this.info.status === "running") this.#say("");
    if (!this.#replaying) return;
    this.terminal.write("", () => {
      this.#replaying = false;
      this.link.send(this.#early);
      this.#early = "";
      this.#resize(0);
    });
  }

  #resize(settled = SETTLED) {
    clearTimeout(this.#resizing);
    if (this.info.status !== "running" || this.#replaying) return;
    const { rows, cols } = this.terminal;
    this.#resizing = setTimeout(() => ask("PUT", `/${this.info.id}`, { size: { rows, cols } }).catch(() => {}), settled);
  }

  async #ended() {
    try {
      this.info = await ask("GET", `/${this.info.id}`);
    } catch (error) {
      if (error.status !== 404) return this.link.again();
      this.info = { ...this.info, status: "exited", gone: true };
    }
    if (this.info.status === "running") return this.link.open();
    const gone = gettext("This terminal has ended; the server does not know it any more");
    this.#say("exited", this.info.gone ? gone : interpolate(gettext("Exited with code %(code)s"), { code: this.info.exitCode }));
    this.onEnd();
  }

  #say(state, words = "") {
    this.state.dataset.state = state;
    this.state.querySelector("span").textContent = words;
    this.state.querySelector("button").hidden = state !== "exited";
  }
}
