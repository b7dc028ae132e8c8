// The work of the session at a glance, beside its conversation: renewed while it is open. Loaded when it is first opened.
import { base } from "./page.js";
import { addSheet } from "./sheet.js";
import { note } from "./toast.js";
import { gettext } from "./words.js";

const PAUSE = 1500; // milliseconds: what is read at a glance need not flicker
const box = document.createElement("aside");
Object.assign(box, { id: "glance", className: "glance", popover: "manual" });
box.setAttribute("aria-labelledby", "glance-title");
document.body.append(box);

let timer = 0;
let shown = ""; // what it was given last
const isOpen = () => box.matches(":popover-open");

export async function toggle() {
  if (isOpen()) return box.hidePopover();
  if (!document.body.dataset.session) return note(gettext("There is no session yet."));
  await addSheet("glance");
  await load();
  box.showPopover();
  document.getElementById("glance-title")?.focus({ preventScroll: true });
}

async function load() {
  const address = base();
  const answer = await fetch(`${address}/glance`).catch(() => null);
  if (!answer?.ok || address !== base()) return;
  const html = await answer.text();
  if (html === shown) return;
  shown = html;
  const focused = box.contains(document.activeElement) && document.activeElement.id;
  const at = box.scrollTop;
  box.innerHTML = html;
  box.scrollTop = at;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function later() {
  if (!isOpen() || timer || document.hidden) return;
  timer = setTimeout(async () => {
    await load();
    timer = 0;
  }, PAUSE);
}

for (const name of ["page:changed", "page:replaced", "servers:changed", "visibilitychange"]) document.addEventListener(name, later);
box.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  event.preventDefault();
  box.hidePopover();
  document.getElementById("prompt")?.focus();
});
