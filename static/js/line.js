// A WebSocket that is opened again when it was lost: later each time, and at once when the network is back or the page
// is looked at again. A page that is left waits in the browser to be come back to; an open socket would forbid that.
// One that says nothing any more is lost too, whatever the browser thinks of it: after a sleep, behind a proxy, or where
// somebody takes connections and answers none.
const LONGEST = 20_000;

const lines = new Set();

export class Line {
  #socket = null;
  #attempt = 0;
  #again = 0;
  #watchdog = 0;
  #heard = 0; // a time of the clock: timers stand still while the machine sleeps

  // `on` has address() and receives(data), and, where they matter, opens(), opened(), lost(until), silent() and ends(code),
  // which says whether this end is one for good. `silence`: the ms that a server that sends heartbeats may say nothing.
  constructor(on, silence = 0) {
    this.on = on;
    this.silence = silence;
  }

  open() {
    this.leave();
    lines.add(this);
    this.on.opens?.();
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.#socket = new WebSocket(`${scheme}//${location.host}${this.on.address()}`);
    this.#socket.binaryType = "arraybuffer";
    this.#watch();
    this.#socket.onopen = () => {
      this.#watch();
      this.on.opened?.();
    };
    this.#socket.onmessage = ({ data }) => {
      this.#watch();
      this.on.receives(data);
    };
    this.#socket.onclose = ({ code }) => (this.on.ends?.(code) ? this.close() : this.again());
  }

  // For good, or until `open`.
  close() {
    lines.delete(this);
    this.#attempt = 0;
    this.leave();
  }

  // Nothing comes from this socket any more.
  leave() {
    clearTimeout(this.#watchdog);
    clearTimeout(this.#again);
    this.#again = 0;
    if (!this.#socket) return;
    this.#socket.onopen = this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
    this.#socket = null;
  }

  // It answers as it should: the next loss is a first one.
  holds() {
    this.#attempt = 0;
  }

  send(text) {
    if (text && this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  again() {
    clearTimeout(this.#watchdog);
    clearTimeout(this.#again);
    this.#attempt += 1;
    const longest = Math.min(LONGEST, 500 * 2 ** this.#attempt);
    const delay = longest / 2 + (Math.random() * longest) / 2;
    this.#again = setTimeout(() => this.open(), delay);
    this.on.lost?.(Date.now() + delay);
  }

  isLost() {
    const isSilent = this.#socket && this.silence && Date.now() - this.#heard > this.silence;
    return Boolean(this.#again || isSilent);
  }

  isLeft() {
    return !this.#socket;
  }

  #watch() {
    clearTimeout(this.#watchdog);
    this.#heard = Date.now();
    if (this.silence) this.#watchdog = setTimeout(() => this.#drop(), this.silence);
  }

  // Its end is not waited for: whoever says nothing does not confirm that either.
  #drop() {
    this.leave();
    this.again();
    this.on.silent?.();
  }
}

const reopen = () => [...lines].filter((line) => line.isLost()).forEach((line) => line.open());
window.addEventListener("online", reopen);
document.addEventListener("visibilitychange", () => document.hidden || reopen());
window.addEventListener("pagehide", () => lines.forEach((line) => line.leave()));
window.addEventListener("pageshow", () => [...lines].filter((line) => line.isLeft()).forEach((line) => line.open()));
