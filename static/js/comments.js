// Comments on lines of a diff: a click on a line's number, or on a hunk's Comment button, opens a field under it. Loaded with
// the first (diff.js).
import { base } from "./page.js";
import { panel } from "./review-state.js";

const LONG = 60; // lines

let first = null; // the number a range begins at: shift and a second click end it

// `pressed` is a number, or a button of a hunk or of a field; `goesOn` where the range that was begun ends there.
export function press(pressed, goesOn) {
  if (pressed.matches("[data-comment-cancel]")) return close(pressed.closest("tr"));
  if (pressed.matches("[data-comment]")) return onHunk(pressed.closest("[data-hunk]"));
  const from = goesOn && sameSide(first, pressed) ? first : pressed;
  if (!goesOn) first = pressed;
  open(pressed, range(from, pressed), side(pressed));
}

panel.addEventListener("keydown", (event) => {
  const form = event.target.closest("[data-comment-form]");
  if (event.key === "Escape" && form && !event.isComposing) {
    event.preventDefault();
    close(form.closest("tr"));
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form?.matches(".comment-form")) event.target.form.requestSubmit();
});

document.addEventListener("htmx:afterRequest", ({ target, detail }) => {
  if (detail.successful && target.matches?.("[data-comment-form]")) close(target.closest("tr"));
});

const side = (cell) => (cell.classList.contains("old") ? "old" : "new");
const sameSide = (one, other) => one?.isConnected && side(one) === side(other) && one.closest("table") === other.closest("table");
const range = (...cells) => cells.map((cell) => Number(cell.dataset.n)).sort((a, b) => a - b);

// All lines that the hunk adds, or if it adds none, all that it takes away; of a long one the first, which is in sight.
function onHunk(hunk) {
  const bodies = [hunk];
  while (bodies.at(-1).nextElementSibling?.matches("tbody.more")) bodies.push(bodies.at(-1).nextElementSibling);
  const changed = (kind) => bodies.flatMap((body) => [...body.querySelectorAll(`tr.${kind} td.num[data-n], td.num.${kind}[data-n]`)]);
  const cells = [changed("add"), changed("del")].find((found) => found.length) || [...hunk.querySelectorAll("td.num[data-n]")];
  const last = cells.length > LONG ? cells[0] : cells.at(-1);
  if (last) open(last, range(cells[0], last), side(last));
}

async function open(cell, [start, end], on) {
  const row = cell.closest("tr");
  const file = cell.closest(".file");
  const there = row.nextElementSibling?.querySelector("[data-comment-form]");
  if (there) return there.querySelector("textarea").focus();
  const table = cell.closest("table");
  const steps = [...file.querySelectorAll(".step")];
  const fresh = document.createElement("tr");
  fresh.className = "note writing";
  fresh.append(document.createElement("td"));
  fresh.firstChild.colSpan = table.classList.contains("split") ? 4 : 3;
  row.after(fresh);
  const scope = document.getElementById("review-scope").selectedOptions[0];
  const query = new URLSearchParams({
    path: file.dataset.key, step: Math.max(steps.indexOf(cell.closest(".step")), 0), side: on, start, end,
    scope: scope.value, message: scope.dataset.message, part: scope.dataset.part,
  });
  await window.htmx.ajax("GET", `${base()}/comments/form?${query}`, { target: fresh.firstChild, swap: "innerHTML" });
  fresh.querySelector("textarea")?.focus();
}

function close(row) {
  let body = row?.closest("tbody");
  while (body && !body.matches("[data-hunk]")) body = body.previousElementSibling;
  row?.remove();
  (body || panel).focus({ preventScroll: true });
}
