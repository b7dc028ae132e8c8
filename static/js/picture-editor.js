// A picture that is attached is made ready before it is sent: cut, marked, made unreadable in parts. What is done lies on a
// pile, of which the last can be taken back. A frame says where: drawn by the pointer, or moved by arrow keys.
import { button, dialog } from "./picture.js";
import { gettext, interpolate } from "./words.js";

const MARK = "#e5342b"; // on a picture of any colour, in any theme
const QUALITY = 0.92;
const STEP = 0.01; // of the longer side, for a press of an arrow key
const LEAST = 3; // pixels that a frame has to measure, in sum
const HINT = gettext("Draw with the pointer, or move the frame by the arrow keys, size it by Shift with them, and press Enter.");

function canvasOf(width, height) {
  return Object.assign(document.createElement("canvas"), { width, height });
}

function copy(picture) {
  const made = canvasOf(picture.width, picture.height);
  made.getContext("2d").drawImage(picture, 0, 0);
  return made;
}

const box = ({ from, to }) => ({
  x: Math.round(Math.min(from.x, to.x)),
  y: Math.round(Math.min(from.y, to.y)),
  width: Math.max(1, Math.round(Math.abs(to.x - from.x))),
  height: Math.max(1, Math.round(Math.abs(to.y - from.y))),
});

function pen({ width, height }, context) {
  const size = Math.max(3, Math.round(Math.max(width, height) / 200));
  Object.assign(context, { strokeStyle: MARK, fillStyle: MARK, lineWidth: size, lineJoin: "round", lineCap: "round" });
  return size;
}

// Each gives a new picture of a picture and a frame.
const TOOLS = {
  Crop(picture, frame) {
    const { x, y, width, height } = box(frame);
    const made = canvasOf(width, height);
    made.getContext("2d").drawImage(picture, -x, -y);
    return made;
  },
  Arrow(picture, { from, to }) {
    const made = copy(picture);
    const context = made.getContext("2d");
    const size = pen(picture, context);
    const angle = Math.atan2(to.y - from.y, to.x - from.x);
    const corner = (turned) => [to.x - 5 * size * Math.cos(angle + turned), to.y - 5 * size * Math.sin(angle + turned)];
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x - 2 * size * Math.cos(angle), to.y - 2 * size * Math.sin(angle));
    context.stroke();
    context.beginPath();
    context.moveTo(to.x, to.y);
    context.lineTo(...corner(0.45));
    context.lineTo(...corner(-0.45));
    context.closePath();
    context.fill();
    return made;
  },
  Box(picture, frame) {
    const made = copy(picture);
    const context = made.getContext("2d");
    const { x, y, width, height } = box(frame);
    pen(picture, context);
    context.strokeRect(x, y, width, height);
    return made;
  },
  // In squares so large that no letter is left in them.
  Blur(picture, frame) {
    const made = copy(picture);
    const { x, y, width, height } = box(frame);
    const side = Math.max(12, Math.ceil(Math.min(width, height) / 4));
    const small = canvasOf(Math.ceil(width / side), Math.ceil(height / side));
    const context = small.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(picture, x, y, width, height, 0, 0, small.width, small.height);
    const onto = made.getContext("2d");
    onto.imageSmoothingEnabled = false;
    onto.drawImage(small, 0, 0, small.width, small.height, x, y, width, height);
    return made;
  },
};
const NAMES = { Crop: gettext("Crop"), Arrow: gettext("Arrow"), Box: gettext("Box"), Blur: gettext("Blur") };
const DONE = { Crop: gettext("Cropped"), Arrow: gettext("Arrow drawn"), Box: gettext("Box drawn"), Blur: gettext("Made unreadable") };

class Editor {
  #pile; // the picture as it came, and after each that was done
  #tool = "Crop";
  #frame = null; // `{from, to}` in pixels of the picture
  #shown = canvasOf(1, 1);
  #around = document.createElement("div"); // a frame may begin beside the picture
  #said = document.createElement("p");
  #tools = Object.keys(TOOLS).map((name) => Object.assign(button(NAMES[name], () => this.#choose(name)), { name }));
  #back = button(gettext("Undo"), () => this.#undo());
  #warned = false;

  constructor(image, { filename, mime }, save) {
    const first = canvasOf(image.naturalWidth, image.naturalHeight);
    first.getContext("2d").drawImage(image, 0, 0);
    this.#pile = [first];
    this.#around.className = "picture-around";
    this.#around.append(this.#shown);
    const close = button(gettext("Cancel"));
    close.dataset.close = "";
    const done = button(gettext("Save"), () => this.#save(filename, mime, save));
    done.classList.add("primary");
    this.#said.setAttribute("role", "status");
    this.#said.className = "soft picture-said";
    this.dialog = dialog(interpolate(gettext("Edit %(filename)s"), { filename }), this.#row(), this.#around, this.#said, this.#foot(close, done));
    this.dialog.addEventListener("cancel", (event) => this.#warn(event));
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.#pile.length > 1 && event.stopPropagation());
    this.#listen();
    this.#choose("Crop");
    this.#tell(HINT);
  }

  get #picture() {
    return this.#pile.at(-1);
  }

  #row() {
    const row = document.createElement("div");
    row.className = "picture-tools";
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", gettext("What the frame is for"));
    row.append(...this.#tools);
    return row;
  }

  #foot(...buttons) {
    const foot = document.createElement("div");
    foot.className = "picture-foot";
    foot.append(this.#back, ...buttons);
    return foot;
  }

  #tell(words) {
    this.#said.textContent = words;
  }

  #choose(name) {
    this.#tool = name;
    for (const one of this.#tools) one.setAttribute("aria-pressed", String(one.name === name));
    this.#draw();
  }

  // With what the frame would do.
  #draw() {
    const { width, height } = this.#picture;
    if (this.#shown.width !== width || this.#shown.height !== height) Object.assign(this.#shown, { width, height });
    const context = this.#shown.getContext("2d");
    context.clearRect(0, 0, width, height);
    const crops = this.#tool === "Crop";
    context.drawImage(this.#frame && !crops ? TOOLS[this.#tool](this.#picture, this.#frame) : this.#picture, 0, 0);
    this.#back.disabled = this.#pile.length === 1;
    if (!this.#frame || !["Crop", "Blur"].includes(this.#tool)) return;
    const { x, y, width: wide, height: high } = box(this.#frame);
    if (crops) {
      context.fillStyle = "rgb(0 0 0 / 50%)";
      context.fillRect(0, 0, width, height);
      context.drawImage(this.#picture, x, y, wide, high, x, y, wide, high);
    }
    pen(this.#picture, context);
    context.setLineDash([3 * context.lineWidth, 2 * context.lineWidth]);
    context.strokeRect(x, y, wide, high);
  }

  #apply() {
    const { from, to } = this.#frame;
    const isSeen = Math.abs(to.x - from.x) + Math.abs(to.y - from.y) >= LEAST;
    if (isSeen) {
      this.#pile.push(TOOLS[this.#tool](this.#picture, this.#frame));
      this.#tell(interpolate(gettext("%(done)s. %(width)s × %(height)s pixels."), { done: DONE[this.#tool], width: this.#picture.width, height: this.#picture.height }));
    }
    this.#frame = null;
    this.#warned = false;
    this.#draw();
  }

  #undo() {
    if (this.#pile.length > 1) this.#pile.pop();
    this.#frame = null;
    this.#tell(interpolate(gettext("Undone. %(width)s × %(height)s pixels."), { width: this.#picture.width, height: this.#picture.height }));
    this.#draw();
    if (this.#back.disabled) this.#shown.focus();
  }

  #place({ clientX, clientY }) {
    const { left, top, width, height } = this.#shown.getBoundingClientRect();
    return this.#inside({ x: ((clientX - left) * this.#shown.width) / width, y: ((clientY - top) * this.#shown.height) / height });
  }

  #inside({ x, y }) {
    return { x: Math.min(Math.max(x, 0), this.#picture.width), y: Math.min(Math.max(y, 0), this.#picture.height) };
  }

  #listen() {
    const [canvas, around] = [this.#shown, this.#around];
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "application");
    canvas.setAttribute("aria-label", interpolate(gettext("The picture. %(hint)s"), { hint: HINT }));
    around.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      around.setPointerCapture(event.pointerId);
      this.#frame = { from: this.#place(event), to: this.#place(event) };
    });
    around.addEventListener("pointermove", (event) => {
      if (!around.hasPointerCapture(event.pointerId)) return;
      this.#frame.to = this.#place(event);
      this.#draw();
    });
    around.addEventListener("pointerup", (event) => around.hasPointerCapture(event.pointerId) && this.#apply());
    canvas.addEventListener("keydown", (event) => this.#press(event));
    this.dialog.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      event.preventDefault();
      this.#undo();
    });
  }

  #press(event) {
    const { key, shiftKey } = event;
    const to = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
    if (key === "Enter" && this.#frame) this.#apply();
    else if (to) this.#move(to, shiftKey);
    else return;
    event.preventDefault();
  }

  // The first press shows a frame in the middle.
  #move([right, down], sizes) {
    const { width, height } = this.#picture;
    const step = Math.max(1, STEP * Math.max(width, height));
    const moved = (point) => this.#inside({ x: point.x + right * step, y: point.y + down * step });
    if (!this.#frame) this.#frame = { from: { x: width / 4, y: height / 4 }, to: { x: (3 * width) / 4, y: (3 * height) / 4 } };
    else this.#frame = { from: sizes ? this.#frame.from : moved(this.#frame.from), to: moved(this.#frame.to) };
    const frame = box(this.#frame);
    this.#tell(interpolate(gettext("%(tool)s: %(width)s × %(height)s at %(x)s, %(y)s"), { tool: NAMES[this.#tool], width: frame.width, height: frame.height, x: frame.x, y: frame.y }));
    this.#draw();
  }

  // Escape takes the frame away first, and asks once before it throws away what was done.
  #warn(event) {
    if (!this.#frame && (this.#pile.length === 1 || this.#warned)) return;
    event.preventDefault();
    this.#warned = !this.#frame;
    this.#tell(this.#frame ? HINT : gettext("Escape again throws away what was done."));
    this.#frame = null;
    this.#draw();
  }

  async #save(filename, mime, save) {
    if (this.#pile.length > 1) {
      const made = await new Promise((done) => this.#picture.toBlob(done, mime, QUALITY));
      save(new File([made], filename, { type: made.type }));
    }
    this.dialog.close();
  }
}

// `save` gets the picture in its own type, where something was done to it.
export async function edit(file, save) {
  const image = Object.assign(new Image(), { src: file.url });
  await image.decode();
  new Editor(image, file, save);
}
