// Diffs are loaded as they come near the screen, several in one request.
import { onPage } from "./page.js";
import { panel, request } from "./review-state.js";
import { dirty } from "./review-typing.js";

const NEAR = "600px 0px";
const ROW = 20;
const HEAD = 44;
const AT_ONCE = 8;

const waiting = new Set();
let running = false;
const near = new IntersectionObserver(arrived, { root: panel, rootMargin: NEAR });

function arrived(entries) {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting && target.hasAttribute("data-lazy")) waiting.add(target);
    else waiting.delete(target);
  }
  run();
}

async function run() {
  if (running) return;
  running = true;
  await null;
  for (let bodies = take(); bodies.length; bodies = take()) {
    const paths = bodies.map((body) => body.closest(".file").dataset.key);
    await request("GET", "/files", { path: paths }, bodies[0]);
    for (const body of bodies) if (body.isConnected) near.unobserve(body);
  }
  running = false;
}

function take() {
  const bodies = [...waiting].filter((body) => body.isConnected && !typing(body)).slice(0, AT_ONCE);
  for (const body of bodies) waiting.delete(body);
  return bodies;
}

// A diff that somebody writes in is renewed when they have finished.
function typing(body) {
  return [...body.querySelectorAll("textarea, input")].some(dirty);
}

// A place as high as the diff will be, so that the scroll bar tells the truth.
function prepare(file) {
  const body = file.querySelector(".file-body");
  const open = file.querySelector("[data-fold]").getAttribute("aria-expanded") === "true";
  const height = Number(body.dataset.rows) * ROW;
  file.style.containIntrinsicSize ||= `auto ${open ? HEAD + height : HEAD}px`;
  if (!body.hasAttribute("data-lazy")) return;
  if (!body.hasAttribute("data-late")) body.style.minHeight = `${height}px`;
  near.observe(body);
}

onPage(() => {
  waiting.clear();
});
panel.addEventListener("review:shown", (event) => prepare(event.target));
panel.addEventListener("focusout", () => setTimeout(run));
