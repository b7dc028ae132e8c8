// The timeline: slider and list show the files at a point, read only. Answers never change, so they are kept.
import "./dialog.js";
import "./help.js";
import "./socket.js";
import "./time.js";
import "./toast.js";

const PAUSE = 200; // milliseconds between two questions to the server
const KEPT = 80;

const base = document.getElementById("timeline").dataset.base;
const slider = document.getElementById("scrub");
const words = document.getElementById("scrub-at");
const pane = document.getElementById("at");
const list = document.getElementById("moments");
const answers = new Map();
let stops = [];
let wanted = "";
let asked = 0;
let timer = 0;
let question = null;

// The points of the slider, after the list came anew; who was at the end stays there.
function readStops() {
  const marks = document.getElementById("scrub-marks");
  const atEnd = slider.value === slider.max;
  const before = stops[slider.value];
  stops = marks.dataset.stops.split(" ");
  slider.max = stops.length - 1;
  slider.value = atEnd ? slider.max : Math.max(0, stops.indexOf(before));
  for (const mark of marks.children) mark.style.setProperty("--at", mark.dataset.stop / Math.max(1, slider.max));
  if (atEnd) look(stops.at(-1));
  else point(wanted);
}

function look(change) {
  if (change === undefined || change === wanted) return;
  wanted = change;
  point(change);
  clearTimeout(timer);
  if (answers.has(change)) show(change);
  else timer = setTimeout(ask, Math.max(0, asked + PAUSE - Date.now()), change);
}

async function ask(change) {
  asked = Date.now();
  question?.abort();
  question = new AbortController();
  try {
    const answer = await fetch(`${base}/timeline/at?change=${change}`, { signal: question.signal });
    if (!answer.ok) return;
    answers.set(change, await answer.text());
    if (answers.size > KEPT) answers.delete(answers.keys().next().value);
    if (change === wanted) show(change);
  } catch {
    // Another point is asked for by now, or the server is away: the page says so itself.
  }
}

function show(change) {
  pane.innerHTML = answers.get(change);
  const said = pane.firstElementChild.dataset.words.trim();
  slider.setAttribute("aria-valuetext", said);
  words.textContent = pane.querySelector(".at-title").firstChild.textContent.trim();
}

// Where the point is in the list.
function point(change) {
  for (const moment of list.querySelectorAll(".moment")) {
    moment.classList.toggle("here", moment.dataset.change === change);
  }
}

function moveTo(change) {
  const place = stops.indexOf(change);
  if (place >= 0) slider.value = place;
  look(change);
}

async function open(change) {
  moveTo(change);
  await window.htmx.ajax("GET", `${base}/timeline/point?change=${change}`, { source: "#point", target: "#point" });
  const opened = document.getElementById("point");
  opened.focus({ preventScroll: true });
  opened.scrollIntoView({ block: "nearest" });
}

function under(event) {
  const { left, width } = slider.getBoundingClientRect();
  const share = Math.min(1, Math.max(0, (event.clientX - left - 8) / (width - 16)));
  return stops[Math.round(share * slider.max)];
}

slider.addEventListener("input", () => look(stops[slider.value]));
slider.addEventListener("pointermove", (event) => event.buttons || look(under(event)));
slider.addEventListener("pointerleave", () => look(stops[slider.value]));
slider.addEventListener("keydown", (event) => {
  if (event.key === "Enter") open(stops[slider.value]);
});
for (const type of ["pointerover", "focusin"]) {
  list.addEventListener(type, (event) => {
    const moment = event.target.closest(".moment");
    if (moment) moveTo(moment.dataset.change);
  });
}
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-open]");
  if (button) open(button.dataset.open);
  const mark = event.target.closest("#scrub-marks [data-stop]");
  if (mark) moveTo(stops[mark.dataset.stop]);
});
document.addEventListener("htmx:afterSettle", ({ detail }) => detail.target === list && readStops());
document.addEventListener("page:replaced", () => {
  window.htmx.trigger("#timeline-form", "change");
});

readStops();
const hovered = list.querySelector(".moment:hover"); // while this was loading
if (hovered) moveTo(hovered.dataset.change);
if (list.scrollHeight > list.clientHeight) list.querySelector(".moment:last-child")?.scrollIntoView({ block: "end" });
