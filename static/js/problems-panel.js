// The problems panel: filtered, walked by the arrow keys. Loaded when there are problems, or when it is opened first.
import { merge } from "./merge.js";
import { ask, inReview } from "./problem-marks.js";
import { addSheet } from "./sheet.js";
import { shortcut } from "./shortcuts.js";

const box = document.getElementById("problems");
const list = document.getElementById("problems-list");
const filter = document.getElementById("problems-filter");
const title = document.getElementById("problems-title");
const { base } = box.dataset;
const sheet = addSheet("problems-panel");

const where = () => ({ project: document.body.dataset.project, session: document.body.dataset.session });
const rows = () => [...list.querySelectorAll("li:not([hidden]) > .problem-row")].filter((row) => !row.closest("[hidden]"));
const texts = (within) => rows().filter((row) => within.contains(row)).map((row) => row.parentElement.querySelector("[data-fix]").dataset.fix);

export async function open() {
  await sheet;
  if (!box.matches(":popover-open")) box.showPopover();
  (rows()[0] || title).focus();
}

export function load(verb = "GET", path = "") {
  return window.htmx.ajax(verb, base + path, { source: list, target: list, swap: "innerHTML", values: where() });
}

// What stays the same keeps what was opened in it, and the keyboard stays where it is.
function renew(html) {
  const focused = list.contains(document.activeElement) ? document.activeElement.id : "";
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  merge(list, fresh.content);
  sift();
  if (focused && document.activeElement.id !== focused) (document.getElementById(focused) || rows()[0] || title).focus();
}

function sift() {
  const wanted = new Set([...filter.querySelectorAll(":checked")].map((check) => check.value));
  const text = filter.elements.text.value.trim().toLowerCase();
  for (const item of list.querySelectorAll("li[data-severity]")) {
    const severity = Math.min(Number(item.dataset.severity), 3);
    const fits = item.closest("section").dataset.path.toLowerCase().includes(text) || item.textContent.toLowerCase().includes(text);
    item.hidden = !wanted.has(String(severity)) || !fits;
  }
  for (const file of list.querySelectorAll("section")) file.hidden = !file.querySelector("li:not([hidden])");
  const [some, shown] = [list.querySelector("section"), rows().length];
  const unmatched = document.getElementById("problems-unmatched");
  if (unmatched) unmatched.hidden = !some || shown > 0;
  box.querySelector("[data-fix-shown]").hidden = shown < 2;
}

async function show(row) {
  const key = row.closest("section").dataset.key;
  if (await inReview(key, row.dataset.line)) return box.hidePopover();
  const under = row.parentElement.querySelector(".problem-lines");
  under.hidden = !under.hidden;
  row.setAttribute("aria-expanded", String(!under.hidden));
  if (under.hidden || under.firstElementChild) return;
  const values = { ...where(), path: key, line: row.dataset.line };
  window.htmx.ajax("GET", `${base}/lines`, { source: under, target: under, swap: "innerHTML", values });
}

function move(by) {
  const all = rows();
  const at = all.indexOf(document.activeElement?.closest("li")?.querySelector(".problem-row"));
  all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
}

function fix(event) {
  const row = event.target.closest(".problem-row");
  if (!row) return false;
  row.parentElement.querySelector("[data-fix]").click();
}

const here = (element) => box.contains(element);
shortcut("problem-next", () => move(1), { within: here, typing: true });
shortcut("problem-previous", () => move(-1), { within: here });
shortcut("problem-fix", fix, { within: here });

box.addEventListener("click", ({ target }) => {
  const row = target.closest(".problem-row");
  if (row) show(row);
  else if (target.closest("[data-problems-check]")) check(target.closest("[data-problems-check]"));
  else if (target.closest("[data-fix-shown]")) ask(texts(list));
  else if (target.closest("[data-fix-file]")) ask(texts(target.closest("section")));
  if (target.closest("[data-fix], [data-fix-shown], [data-fix-file]")) box.hidePopover();
});

async function check(asked) {
  asked.disabled = true;
  await load("POST", "/check").catch(() => {});
  asked.disabled = false;
}

filter.addEventListener("input", sift);
filter.addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target !== list || detail.isError || !detail.shouldSwap) return;
  detail.shouldSwap = false;
  renew(detail.serverResponse);
});
