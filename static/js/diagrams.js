// Diagrams of code blocks in Mermaid's language. They are drawn in a frame of no origin (diagram-frame.js); what comes out of it
// is shown as a picture, in which nothing runs.
import { isDark, onScheme } from "./scheme.js";
import { addSheet } from "./sheet.js";
import { gettext, interpolate } from "./words.js";

addSheet("diagrams");

const PATIENCE = 15_000; // milliseconds for one
const KEPT = 50; // pictures

const pictures = new Map(); // a text and whether it is dark -> what came of it
let frame = null; // until it is there
let queue = Promise.resolve();
let number = 0;

const element = (tag, values) => Object.assign(document.createElement(tag), values);

function opened() {
  // The folder of the scripts is another with each version: so is the frame's address, for which a browser keeps it.
  const src = `${document.body.dataset.diagrams}?${new URLSearchParams({ for: new URL("..", import.meta.url).pathname })}`;
  const made = element("iframe", { className: "diagram-frame", title: gettext("Draws diagrams"), inert: true, src });
  made.sandbox = "allow-scripts";
  made.ready = new Promise((done) => (made.onload = done));
  document.body.append(made);
  return made;
}

// { svg } or { problem }.
function ask(text, dark) {
  frame ??= opened();
  const [asked, mine] = [frame, ++number];
  return new Promise((resolve) => {
    const end = (answer) => {
      clearTimeout(timer);
      removeEventListener("message", take);
      resolve(answer);
    };
    const take = ({ source, data }) => source === asked.contentWindow && data?.number === mine && end(data);
    const timer = setTimeout(() => {
      asked.remove();
      frame = null;
      end({ problem: gettext("It took too long.") });
    }, PATIENCE);
    addEventListener("message", take);
    asked.ready.then(() => asked.contentWindow?.postMessage({ number: mine, text, dark }, "*"));
  });
}

function picture(text) {
  const dark = isDark();
  const key = `${dark} ${text}`;
  if (!pictures.has(key)) {
    if (pictures.size >= KEPT) pictures.delete(pictures.keys().next().value);
    queue = queue.then(() => ask(text, dark));
    pictures.set(key, queue);
  }
  return pictures.get(key);
}

// The picture in the place of its source, and the way back; or why there is none.
async function fill({ source, image, enlarge, toggle, problem }) {
  const answer = await picture(source.textContent);
  problem.hidden = !answer.problem;
  problem.textContent = answer.problem ? interpolate(gettext("It cannot be drawn. %(problem)s"), { problem: answer.problem }) : "";
  if (!answer.svg) return;
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(answer.svg)}`;
  if (!toggle.hidden) return;
  toggle.hidden = enlarge.hidden = false;
  source.hidden = true;
}

const drawn = new WeakMap(); // block -> its parts

function begin(block) {
  const source = block.querySelector("pre");
  const name = source.textContent.trim().split("\n", 1)[0].slice(0, 80);
  const image = element("img", { alt: interpolate(gettext("Diagram: %(name)s"), { name }) });
  const enlarge = element("button", { type: "button", className: "enlarge", ariaLabel: interpolate(gettext("Enlarge the diagram: %(name)s"), { name }), hidden: true });
  const toggle = element("button", { type: "button", textContent: gettext("Source"), hidden: true });
  const problem = element("p", { className: "diagram-problem", hidden: true });
  enlarge.dataset.enlarge = "";
  enlarge.append(image);
  toggle.addEventListener("click", () => {
    enlarge.hidden = source.hidden;
    source.hidden = !source.hidden;
    toggle.textContent = source.hidden ? gettext("Source") : gettext("Diagram");
  });
  block.querySelector(".copy").before(toggle);
  source.before(enlarge);
  source.after(problem);
  block.dataset.drawn = "";
  drawn.set(block, { source, image, enlarge, toggle, problem });
  fill(drawn.get(block));
}

// What is still being written comes for an element of that name (fragments.js), or is in one of that class.
export function draw(within) {
  for (const block of within.querySelectorAll(".code.diagram:not([data-drawn])")) {
    if (!block.closest(".unfinished, [hx-swap-oob$='-open']")) begin(block);
  }
}

onScheme(() => {
  for (const block of document.querySelectorAll(".code.diagram[data-drawn]")) if (drawn.has(block)) fill(drawn.get(block));
});
