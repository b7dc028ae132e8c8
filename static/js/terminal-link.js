// The socket of a terminal: opened again from the position last seen, until the terminal has ended.
import { socket } from "./terminal-api.js";

const LONGEST = 20_000;
const ENDED = [1000, 4404];

export class Link {
  #socket = null;
  #cursor = 0;
  #attempt = 0;
  #timer = 0;

  // `on` has begins(), prints(text), placed(), lost() and ends().
  constructor(id, on) {
    this.id = id;
    this.on = on;
  }

  open() {
    clearTimeout(this.#timer);
    this.on.begins();
    this.#socket = socket(this.id, this.#cursor);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onmessage = ({ data }) => (typeof data === "string" ? this.#printed(data) : this.#placed(data));
    this.#socket.onclose = ({ code }) => (ENDED.includes(code) ? this.on.ends() : this.again());
  }

  // For good, or until `open`.
  close() {
    clearTimeout(this.#timer);
    if (!this.#socket) return;
    this.#socket.onmessage = this.#socket.onclose = null;
    this.#socket.close();
  }

  send(text) {
    if (text && this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  again() {
    this.#attempt += 1;
    const longest = Math.min(LONGEST, 500 * 2 ** this.#attempt);
    this.#timer = setTimeout(() => this.open(), longest / 2 + (Math.random() * longest) / 2);
    this.on.lost();
  }

  #printed(text) {
    this.#cursor += text.length;
    this.on.prints(text);
  }

  // A NUL and `{"cursor": N}`: after what was printed before, and after something was missed.
  #placed(data) {
    this.#cursor = JSON.parse(new TextDecoder().decode(data.slice(1))).cursor;
    this.#attempt = 0;
    this.on.placed();
  }
}
