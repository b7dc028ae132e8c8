// The overview: rows come by a socket and go to their column and place, the filter opens it anew; several are chosen by
// their boxes.
import { isBusy } from "./busy.js";
import { Line } from "./line.js";
import { root } from "./root.js";
import { interpolate, ngettext } from "./words.js";

const HEARTBEAT = 25_000; // the server sends one every 10 s
const SIGNED_OUT = 4401;
const LOOK = "overview-look";
const main = document.querySelector("main.overview");
const filter = document.getElementById("overview-filter");
const bar = document.getElementById("overview-chosen");
const news = document.getElementById("overview-news");
const chosen = new Map(); // by session, the address of the list that it is in
const held = new Map(); // rows that come while theirs is used
let known = false;

const board = () => document.getElementById("overview-board");
const query = () => board().dataset.query;
const rank = (row) => Number(row.dataset.order);
const rows = () => [...board().querySelectorAll(".overview-row")];

// How it looks

function look(name) {
  main.dataset.look = name;
  for (const button of main.querySelectorAll("[data-look]")) button.setAttribute("aria-pressed", String(button.dataset.look === name));
}
look(localStorage.getItem(LOOK) === "list" ? "list" : "board");
main.querySelector(".overview-look").addEventListener("click", ({ target }) => {
  const button = target.closest("[data-look]");
  if (!button) return;
  localStorage.setItem(LOOK, button.dataset.look);
  look(button.dataset.look);
});

// What comes

const line = new Line({
  address: () => `${root}/ws/overview/?${query()}`,
  opened: () => known && renew(), // what happened meanwhile
  receives: (data) => receive(JSON.parse(data)),
  ends: (code) => code === SIGNED_OUT,
}, HEARTBEAT);

const renew = () => window.htmx.trigger(filter, "overview:renew");

function receive({ ready, html, gone, renew: all }) {
  line.holds();
  if (ready && !known) renew(); // what happened between the page and its socket
  known ||= Boolean(ready);
  if (all) renew();
  if (html === undefined) return;
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const row of [...template.content.children]) put(row);
  for (const id of gone) {
    held.delete(`${id}-row`);
    document.getElementById(`${id}-row`)?.remove();
    chosen.delete(id);
  }
  settle();
}

// Nothing is taken from under a hand: a row that has the keyboard or a selection waits.
function put(row) {
  const now = document.getElementById(row.id);
  if (now && isBusy(now)) return held.set(row.id, row);
  held.delete(row.id);
  const list = document.getElementById(`rows-${row.dataset.column}`);
  if (!list) return now?.remove();
  const focused = now?.contains(document.activeElement) ? document.activeElement.className : "";
  const before = now?.dataset.column;
  now?.remove();
  const after = [...list.children].find((other) => rank(other) < rank(row));
  // One that would come after all that are shown may lie among the older ones that are not.
  if (!after && row.dataset.column === "idle" && document.getElementById("overview-older") && list.childElementCount) return;
  list.insertBefore(row, after ?? null);
  window.htmx.process(row);
  if (focused) row.getElementsByClassName(focused)[0]?.focus({ preventScroll: true });
  if (before !== row.dataset.column && ["waiting", "failed"].includes(row.dataset.column)) tell(row);
}

function tell(row) {
  news.textContent = interpolate("%(name)s: %(title)s", {
    name: row.closest(".overview-column").querySelector("h2").firstChild.textContent.trim(),
    title: row.querySelector(".overview-title [dir]").textContent,
  });
}

document.addEventListener("page:free", () => {
  for (const row of [...held.values()]) put(row);
  settle();
});

// What follows from the rows that there are.
function settle() {
  for (const column of board().querySelectorAll(".overview-column")) {
    const count = column.querySelectorAll(".overview-row").length;
    const more = column.querySelector("#overview-older") ? "+" : "";
    column.querySelector("[data-count]").textContent = count ? `${count}${more}` : "";
  }
  show();
  document.dispatchEvent(new CustomEvent("page:changed"));
}

document.addEventListener("htmx:afterSettle", ({ target, detail }) => {
  if (target.id !== "overview-board" && detail.target?.id !== "overview-board" && !document.getElementById("overview-board")?.contains(target)) return;
  held.clear();
  settle();
  if (query() === asked) return;
  asked = query();
  line.open();
  window.htmx.trigger("#overview-views", "views:renew");
});
let asked = query();

// Several at once

const boxes = () => rows().map((row) => row.querySelector(".overview-box"));

function show() {
  for (const box of boxes()) box.checked = chosen.has(box.value);
  const there = new Set(boxes().map(({ value }) => value));
  for (const id of chosen.keys()) if (!there.has(id)) chosen.delete(id);
  const bases = new Set(chosen.values());
  bar.hidden = !chosen.size;
  if (!chosen.size) return;
  document.getElementById("overview-chosen-count").textContent = interpolate(ngettext("%(count)s chosen", "%(count)s chosen", chosen.size), { count: chosen.size });
  document.getElementById("overview-several").hidden = bases.size < 2;
  for (const button of bar.querySelectorAll("[data-dialog]")) button.disabled = bases.size > 1;
}

function end() {
  chosen.clear();
  show();
}

board().parentElement.addEventListener("change", ({ target }) => {
  if (!target.matches(".overview-box")) return;
  if (target.checked) chosen.set(target.value, target.dataset.base);
  else chosen.delete(target.value);
  show();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !chosen.size || document.querySelector("dialog[open], :popover-open")) return;
  end();
});

// Each project answers for its own sessions.
bar.addEventListener("click", async ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  if ("none" in button.dataset) return end();
  const by = Map.groupBy([...chosen], ([, base]) => base);
  const { act, dialog } = button.dataset;
  for (const [base, pairs] of by) {
    const values = { session: pairs.map(([id]) => id) };
    if (act) await window.htmx.ajax("POST", `${base}/${act}`, { source: bar, target: "#toasts", swap: "beforeend", values });
    else await window.htmx.ajax("GET", `${base}/${dialog}`, { source: bar, target: "#dialog", swap: "innerHTML", values });
  }
  if (act) end();
});
bar.addEventListener("submit", (event) => event.preventDefault());

if (document.getElementById("overview-words").value) document.getElementById("overview-words").focus();
for (const box of boxes()) if (box.checked) chosen.set(box.value, box.dataset.base); // before this was loaded
show();
line.open();
