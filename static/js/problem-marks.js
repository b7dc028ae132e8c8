// Problems of lines: their marks in diffs open what is said of a line, and any of them can be put to the agent.
import { field, setPrompt } from "./composer.js";
import { onPage } from "./page.js";
import { panel, reload } from "./review-state.js";
import { isWide, widen } from "./review-wide.js";

const MOST = 50;
const PATIENCE = 5000; // milliseconds that a diff may take to come
const GATHERED = 150;
const said = document.getElementById("problems-said");
const turned = new Map(); // whether a mark was left open, for those that a person pressed
let due = 0;

// Put into the prompt, not sent: the person says how, and sends it.
export function ask(texts) {
  const more = texts.length > MOST ? `\n- and ${texts.length - MOST} more` : "";
  const words = texts.length === 1 ? `Fix this problem:\n\n${texts[0]}` : `Fix these problems:\n\n- ${texts.slice(0, MOST).join("\n- ")}${more}`;
  if (isWide()) widen(false);
  document.querySelector(".scrim")?.click();
  setPrompt([field.value.trimEnd(), words].filter(Boolean).join("\n\n"));
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  field.scrollTop = field.scrollHeight;
}

// Shows a line of a file in the review and whether it could: the file is among the changes, with this problem.
export async function inReview(key, line) {
  const find = () => panel.querySelector(`.file[data-key="${CSS.escape(key)}"]`);
  if (!find()) return false;
  const lazy = find().querySelector(".file-body[data-lazy]");
  if (!lazy && !markOf(find(), line)) return false;
  panel.dispatchEvent(new CustomEvent("review:show", { bubbles: true }));
  find().dispatchEvent(new CustomEvent("review:open", { bubbles: true }));
  find().scrollIntoView({ block: "start" });
  if (lazy) await loaded(find);
  look(find(), line);
  return true;
}

function markOf(file, line) {
  return file.querySelector(`.problem-mark[data-line="${line}"]`);
}

function look(file, line) {
  const mark = markOf(file, line);
  if (!mark) return file.querySelector("[data-fold]").focus({ preventScroll: true });
  if (mark.getAttribute("aria-expanded") === "false") mark.click();
  mark.scrollIntoView({ block: "center" });
  mark.focus({ preventScroll: true });
}

function loaded(find) {
  return new Promise((resolve) => {
    const timer = setTimeout(end, PATIENCE);
    const watch = new MutationObserver(() => find()?.querySelector(".file-body:not([data-lazy])") && end());
    function end() {
      watch.disconnect();
      clearTimeout(timer);
      resolve();
    }
    watch.observe(panel, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-lazy"] });
  });
}

document.addEventListener("click", (event) => {
  const mark = event.target.closest(".problem-mark");
  const fix = event.target.closest("[data-fix]");
  if (mark) toggle(mark);
  if (fix) ask([fix.dataset.fix]);
});

function toggle(mark) {
  const open = mark.getAttribute("aria-expanded") !== "true";
  turned.set(nameOf(mark), open);
  show(mark, open);
}

function show(mark, open) {
  const under = document.getElementById(mark.getAttribute("aria-controls"));
  if (under) under.hidden = !open;
  mark.setAttribute("aria-expanded", String(open));
}

// Lines move, what is said of them stays.
function nameOf(mark) {
  return `${mark.closest(".file")?.dataset.key} ${mark.title}`;
}

// A diff that was drawn anew.
panel.addEventListener("review:shown", ({ target }) => {
  for (const mark of target.querySelectorAll(".problem-mark")) {
    if (turned.has(nameOf(mark))) show(mark, turned.get(nameOf(mark)));
  }
});

// Servers have said something of files: the review is read again where it shows one of them.
function heard() {
  const paths = [...said.children].map((file) => file.dataset.path);
  if (!paths.length) return;
  said.replaceChildren();
  const files = [...panel.querySelectorAll(".file")].map(({ dataset: { file } }) => (file.startsWith("/") ? file : `/${file}`));
  if (!files.some((file) => paths.some((path) => path.endsWith(file)))) return;
  due ||= setTimeout(() => ((due = 0), reload()), GATHERED);
}

new MutationObserver(heard).observe(said, { childList: true });
onPage(() => {
  turned.clear();
  clearTimeout(due);
  due = 0;
});
