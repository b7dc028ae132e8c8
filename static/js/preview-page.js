// The page around a preview. What comes out of the frame is hostile: it is text, it is cut, and an element counts as pointed at
// only while a person points; they see what would go into the prompt before it goes there.
import { gettext, interpolate } from "./words.js";

const MOST = 4000; // characters of one text
const LINES = 300;
const [BURST, A_SECOND] = [400, 100]; // messages
const LEVELS = ["error", "warn", "info", "log", "debug"];
const LARGEST = 4000; // pixels of a picture's side

const get = (id) => document.getElementById(id);
const frame = get("preview-frame");
const embedded = parent !== self;
const cut = (text) => (typeof text === "string" ? text.slice(0, MOST) : "");

const tell = (said) => parent.postMessage(said, location.origin);
if (embedded) for (const element of document.querySelectorAll("[data-embedded]")) element.hidden = false;
get("preview-close").addEventListener("click", () => tell({ preview: "close" }));
addEventListener("keydown", ({ key }) => {
  if (key !== "Escape" || !embedded) return;
  if (picking) point(false);
  else tell({ preview: "close" });
});

let port = null;
let greeted = false; // the page that is being loaded has said so
let picking = false;
let taken = null; // what was pointed at last
let errors = [];
let at = "/";
let [left, since] = [BURST, performance.now()];

if (frame) begin();

function begin() {
  const { origin } = new URL(frame.dataset.source);
  addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || event.origin !== origin || event.data !== "preview" || !allowed()) return;
    const channel = new MessageChannel();
    port?.close();
    port = channel.port1;
    port.onmessage = ({ data }) => allowed() && hear(data);
    greeted = true;
    frame.contentWindow.postMessage("preview", origin, [channel.port2]);
    point(false);
  });
  frame.addEventListener("load", () => {
    if (!greeted) port = null; // no page of the server's: nobody listens there
    greeted = false;
  });
  frame.src = frame.dataset.source;
  get("preview-reload").addEventListener("click", () => (port ? port.postMessage({ kind: "reload" }) : location.reload()));
  get("preview-back").addEventListener("click", () => port?.postMessage({ kind: "back" }));
  get("preview-pick").addEventListener("click", () => point(!picking));
  get("preview-size").addEventListener("change", ({ target }) => size(target.value));
  get("preview-console").addEventListener("click", () => open(get("preview-said").hidden));
  get("preview-clear").addEventListener("click", clear);
  get("preview-errors").addEventListener("click", () => take(`${where()}\n\n${fenced("", errors.join("\n"))}`));
  get("preview-take").addEventListener("click", () => {
    take(taken.text, taken.picture);
    drop();
  });
  get("preview-drop").addEventListener("click", drop);
}

function allowed() {
  const now = performance.now();
  left = Math.min(BURST, left + ((now - since) / 1000) * A_SECOND) - 1;
  since = now;
  return left > 0;
}

function hear(said) {
  if (said && typeof said === "object" && Object.hasOwn(HEARD, said.kind)) HEARD[said.kind](said);
}

const HEARD = {
  at({ path }) {
    at = cut(path) || "/";
    get("preview-at").textContent = `localhost:${number()}${at}`;
  },
  console({ level, text }) {
    const line = document.createElement("li");
    line.dataset.level = LEVELS.includes(level) ? level : "log";
    line.textContent = cut(text);
    const lines = get("preview-lines");
    lines.append(line);
    if (lines.children.length > LINES) lines.firstChild.remove();
    if (level !== "error") return;
    errors = [...errors, cut(text)].slice(-20);
    count();
  },
  unpicked: () => point(false),
  async picked(said) {
    if (!picking) return;
    point(false);
    const picture = await drawn(said);
    const text = [
      where(cut(said.path)),
      `Element: \`${cut(said.selector).replaceAll("`", "'")}\``,
      fenced("html", cut(said.markup)),
      `Styles: ${cut(said.styles)}`,
    ].join("\n\n");
    taken = { text, picture };
    get("preview-text").textContent = text;
    const image = get("preview-picture");
    image.hidden = !picture;
    if (picture) image.src = URL.createObjectURL(picture);
    get("preview-picked").hidden = false;
    get("preview-picked-title").focus();
  },
};

const number = () => new URLSearchParams(location.search).get("port");
const where = (path = at) => `Preview: localhost:${number()}${path}`;

// A fence that is longer than any in the text.
function fenced(language, text) {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function point(value) {
  if (value !== picking) port?.postMessage({ kind: value ? "pick" : "rest" });
  picking = value && Boolean(port);
  get("preview-pick")?.setAttribute("aria-pressed", picking);
  if (picking) frame.focus();
}

function take(text, picture) {
  tell({ preview: "take", text, picture });
}

function drop() {
  URL.revokeObjectURL(get("preview-picture").src);
  get("preview-picture").removeAttribute("src");
  get("preview-picked").hidden = true;
  taken = null;
  get("preview-pick").focus();
}

function open(value) {
  get("preview-said").hidden = !value;
  get("preview-console").setAttribute("aria-expanded", value);
}

function clear() {
  get("preview-lines").replaceChildren();
  errors = [];
  count();
}

function count() {
  const label = get("preview-count");
  label.hidden = !errors.length;
  label.textContent = errors.length;
  label.setAttribute("aria-label", interpolate(gettext("Errors: %(count)s"), { count: errors.length }));
}

function size(value) {
  const [width, height] = value.split("x");
  const stage = frame.parentElement;
  stage.toggleAttribute("data-sized", Boolean(value));
  frame.style.inlineSize = value ? `${width}px` : "";
  frame.style.blockSize = value ? `${height}px` : "";
}

// A drawing in which no script runs and which loads nothing becomes a picture, as far as the browser allows it.
async function drawn({ picture, width, height }) {
  const fits = [width, height].every((side) => Number.isInteger(side) && side > 0 && side <= LARGEST);
  if (typeof picture !== "string" || !picture || picture.length > 3_000_000 || !fits) return null;
  try {
    const image = new Image(width, height);
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture)}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, width, height);
    context.drawImage(image, 0, 0);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } catch {
    return null;
  }
}
