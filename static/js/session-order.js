// The order of sessions by hand: among what is pinned and within folders, and from one to the other. Loaded when the first is dragged or moved by keys.
import { root } from "./root.js";
import { rows } from "./session-list.js";
import { note } from "./toast.js";
import { gettext, interpolate } from "./words.js";

const side = document.getElementById("side-sessions");
const base = () => `${root}/p/${document.body.dataset.project}/sessions`;
const id = (item) => item.id.slice(0, -"-item".length);
const inside = (section) => [...section.querySelectorAll(".session-item")];
const news = document.getElementById("turn-news");
let dragged = null;

// Of a section of the list: `pinned`, the id of a folder, or empty for the days.
const place = (section) => section.dataset.folder ?? (section.querySelector("#sessions-pinned") ? "pinned" : "");

// Not of the list: what waits for an answer of one that another takes the place of is never sent.
const post = (values) => window.htmx.ajax("POST", `${base()}/place`, { source: side, swap: "none", values });

export const choose = (item) => window.htmx.ajax("GET", `${base()}/folder?session=${id(item)}`, { target: "#dialog" });

export function step(item, by) {
  const section = item.closest(".period");
  if (!place(section)) return note(gettext("Only pinned sessions, and those in folders, have an order of their own."));
  const items = inside(section);
  const at = items.indexOf(item);
  if (!items[at + by]) return (news.textContent = by < 0 ? gettext("It is the first.") : gettext("It is the last."));
  [items[at], items[at + by]] = [items[at + by], items[at]];
  news.textContent = interpolate(gettext("%(place)s of %(count)s"), { place: at + by + 1, count: items.length });
  return post({ order: items.map(id) });
}

export function drag(item) {
  dragged = item;
  item.classList.add("dragged");
}

// What is below the pointer: a section, and in one with an order the row that the dragged one goes before.
function target({ target: element, clientY }) {
  const section = dragged && element.closest?.("#session-list .period");
  if (!section) return null;
  const over = (row) => clientY < row.getBoundingClientRect().top + row.offsetHeight / 2;
  return { section, before: place(section) ? inside(section).find((row) => row !== dragged && over(row)) : null };
}

function mark(found) {
  for (const row of rows()) row.classList.toggle("drop-above", row === found?.before);
  for (const section of side.querySelectorAll(".period")) section.classList.toggle("drop-into", section === found?.section);
}

side.addEventListener("dragover", (event) => {
  const found = target(event);
  if (found) event.preventDefault();
  mark(found);
});
side.addEventListener("drop", (event) => {
  const found = target(event);
  if (!found) return;
  event.preventDefault();
  const { section, before } = found;
  const order = place(section) ? inside(section).filter((row) => row !== dragged) : [];
  if (place(section)) order.splice(before ? order.indexOf(before) : order.length, 0, dragged);
  const stays = section === dragged.closest(".period");
  if (stays && !place(section)) return;
  post({ session: id(dragged), order: order.map(id), ...(stays ? {} : { place: place(section) }) });
});
document.addEventListener("dragend", () => {
  dragged?.classList.remove("dragged");
  dragged = null;
  mark(null);
});
