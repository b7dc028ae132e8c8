// The socket of a terminal: opened again from the position last seen, until the terminal has ended.
import { Line } from "./line.js";
import { address } from "./terminal-api.js";

const ENDED = [1000, 4404];

export class Link {
  #cursor = 0;
  #line;

  // `on` has begins(), prints(text), placed(), lost() and ends().
  constructor(id, on) {
    this.on = on;
    this.#line = new Line({
      address: () => address(id, this.#cursor),
      opens: on.begins,
      receives: (data) => (typeof data === "string" ? this.#printed(data) : this.#placed(data)),
      lost: on.lost,
      ends: (code) => this.#ended(code),
    });
  }

  open() {
    this.#line.open();
  }

  // For good, or until `open`.
  close() {
    this.#line.close();
  }

  again() {
    this.#line.again();
  }

  send(text) {
    this.#line.send(text);
  }

  #ended(code) {
    if (!ENDED.includes(code)) return false;
    this.on.ends();
    return true;
  }

  #printed(text) {
    this.#cursor += text.length;
    this.on.prints(text);
  }

  // A NUL and `{"cursor": N}`: after what was printed before, and after something was missed.
  #placed(data) {
    this.#cursor = JSON.parse(new TextDecoder().decode(data.slice(1))).cursor;
    this.#line.holds();
    this.on.placed();
  }
}
