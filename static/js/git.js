// The git panel: what is changed, staged and committed of the page's repository. Loaded when it is first opened; renewed when
// something changes on the disk, as long as it is open.
import { listen, onNews } from "./files-news.js";
import { addSheet } from "./sheet.js";

const sheet = addSheet("git");
const box = document.createElement("div");
Object.assign(box, { id: "git", className: "git-panel", popover: "auto" });
box.setAttribute("role", "dialog");
box.setAttribute("aria-labelledby", "git-title");
document.body.append(box);

const { htmx } = window;
const isOpen = () => box.matches(":popover-open");
const where = () => ({ session: document.body.dataset.session });
const address = (part) => `/p/${document.body.dataset.project}/git${part}`;
const byId = (id) => id && document.getElementById(id);
let asked = false; // a renewal is on its way

export async function open() {
  await sheet;
  box.showPopover();
  if (box.dataset.place === place()) await renew();
  else await htmx.ajax("GET", address(""), { source: box, target: box, swap: "innerHTML", values: where() });
  box.dataset.place = place();
  listen();
  (box.querySelector(".git-name[id]") || byId("git-title"))?.focus();
}

const place = () => Object.values(document.body.dataset).join();

async function renew() {
  if (asked || !byId("git-list")) return;
  asked = true;
  await htmx.ajax("GET", address("/list"), { source: "#git-list", target: "#git-list", swap: "innerHTML", values: where() }).catch(() => {});
  asked = false;
}

onNews(() => isOpen() && renew());

// The file of a row, or all of its list.
function subject(element) {
  const [row, list] = [element.closest("li[data-path]"), element.closest("[data-side]")];
  return { ...where(), side: list.dataset.side, ...(row && { path: row.dataset.path }) };
}

const act = (name, values) => htmx.ajax("POST", address(`/${name}`), { source: "#git-list", target: "#git-list", swap: "innerHTML", values });

async function show(row) {
  const diff = row.querySelector(".git-diff");
  await htmx.ajax("GET", address("/diff"), { source: diff, target: diff, swap: "innerHTML", values: subject(row) });
}

function toggle(button) {
  const row = button.closest("li");
  const diff = row.querySelector(".git-diff");
  diff.hidden = !diff.hidden;
  button.setAttribute("aria-expanded", String(!diff.hidden));
  if (diff.hidden) diff.replaceChildren();
  else show(row);
}

// The lines of a hunk that are changed get boxes, and what is done is done with those that are ticked.
function chooseLines(button) {
  const hunk = button.closest("tbody");
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  for (const old of hunk.querySelectorAll(".git-pick")) old.remove();
  if (!on) return;
  for (const row of hunk.querySelectorAll("tr:is(.add, .del)")) {
    const [sign, number] = row.matches(".add") ? ["added", row.querySelector(".num.new")] : ["removed", row.querySelector(".num.old")];
    const pick = Object.assign(document.createElement("input"), { type: "checkbox", className: "git-pick", name: sign, value: number.dataset.n });
    pick.setAttribute("aria-label", `Line ${number.dataset.n}, ${sign}`);
    row.querySelector("td.line").prepend(pick);
  }
  hunk.querySelector(".git-pick")?.focus();
}

function part(button) {
  const hunk = button.closest("tbody");
  const of = (name) => [...hunk.querySelectorAll(`.git-pick[name=${name}]:checked`)].map((pick) => pick.value).join();
  const lines = { removed: of("removed"), added: of("added") };
  if (hunk.querySelector(".git-pick") && !lines.removed && !lines.added) return hunk.querySelector(".git-pick").focus();
  const chosen = lines.removed || lines.added ? lines : { hunks: button.parentElement.dataset.key };
  return act(button.dataset.gitPart, { ...subject(button), seen: button.closest(".git-table").dataset.seen, ...chosen });
}

box.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  if (button.matches("[data-git-open]")) toggle(button);
  else if (button.matches("[data-git-lines]")) chooseLines(button);
  else if (button.matches("[data-git-part]")) part(button);
  else if (button.matches("[data-git]")) act(button.dataset.git, subject(button));
});

// What is renewed keeps what is open in it, and the keyboard stays where it is.
let before = null;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "git-list" || detail.isError) return;
  const focused = box.contains(document.activeElement) ? document.activeElement : null;
  const rows = [...box.querySelectorAll("li:has(> .git-diff:not([hidden]))")];
  before = { focused: focused?.id || focused?.closest("li")?.id, top: box.scrollTop, open: new Map(rows.map((row) => [row.id, row.querySelector(".git-diff")])) };
});
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id !== "git-list" || !before) return;
  for (const [id, diff] of before.open) {
    const row = byId(id);
    if (!row) continue;
    row.querySelector(".git-diff").replaceWith(diff);
    row.querySelector("[data-git-open]").setAttribute("aria-expanded", "true");
    if (!diff.querySelector("[data-git-lines][aria-pressed=true]")) show(row); // who chooses lines is not disturbed
  }
  box.scrollTop = before.top;
  if (before.focused && !box.contains(document.activeElement)) {
    const there = byId(before.focused);
    ((there?.matches("li") ? there.querySelector("button") : there) || box.querySelector(".git-name[id]") || byId("git-title")).focus({ preventScroll: true });
  }
  before = null;
});
document.addEventListener("git:committed", () => byId("git-commit").reset());
document.addEventListener("keydown", (event) => {
  if (event.target.form?.id === "git-commit" && event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form.requestSubmit();
});
