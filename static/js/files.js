// The files of the project: in the list's place, and those that are open beside the conversation. What that takes is loaded
// when it is used.
import { isStill } from "./focus.js";
import { onPage } from "./page.js";
import { shortcut } from "./shortcuts.js";

const root = document.documentElement;
const panel = () => import("./files-panel.js");
const isListed = (side) => root.classList.contains(`${side}-listed`);

// A file of the project beside the conversation, at a line (from 1) where one is named. The editor loads while it is read.
export async function openFile(path, how) {
  import("./editor.js").catch(() => {}); // told where it is used
  return (await import("./beside.js")).open(path, how);
}

// The path of the file that is shown beside the conversation, empty for none.
export function shownFile() {
  try {
    return JSON.parse(localStorage.getItem(`opened:${document.body.dataset.project}`))?.shown ?? "";
  } catch {
    return "";
  }
}

const SIDES = {
  files: { id: "side-files", load: panel },
  find: { id: "side-find", field: "find-text", load: () => import("./files-find.js") },
};

function list(side) {
  window.laidOut.set("listed", SIDES[side] && side);
  return show(side);
}

async function show(side) {
  for (const name of Object.keys(SIDES)) root.classList.toggle(`${name}-listed`, name === side);
  for (const button of document.querySelectorAll("[data-side]")) button.setAttribute("aria-pressed", String(button.dataset.side === side));
  const loaded = await SIDES[side]?.load().catch((unloaded) => {
    going = "";
    list("sessions");
    throw unloaded;
  });
  await loaded?.show?.();
  return loaded;
}

// Shown, with the keyboard in it; from there once more, away, also while it is still on its way there.
let going = "";
async function toggle(side) {
  const within = going === side || document.getElementById(SIDES[side].id).contains(document.activeElement);
  const to = isListed(side) && within ? "" : side;
  going = to;
  const from = document.activeElement;
  const chosen = getSelection().toString();
  if (root.classList.contains("list-folded")) document.querySelector("[data-fold-list]").click();
  const loading = list(to || "sessions");
  const field = document.getElementById(SIDES[to]?.field); // letters that are typed at once are for it
  const had = field?.value;
  field?.focus();
  field?.select();
  const loaded = await loading;
  if (going !== to) return;
  going = "";
  if (!isStill(from, field)) return;
  if (to) loaded.focus(field?.value === had ? chosen : "");
  else document.getElementById("prompt").focus();
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-side]");
  if (button) list(button.dataset.side);
  const link = event.target.closest(".file-link");
  if (!link) return;
  event.preventDefault();
  const { file, line, column } = link.dataset;
  openFile(file, { line: Number(line), column: Number(column) || 1 });
});
document.addEventListener("layout:reset", () => show("sessions"));
shortcut("files", () => void toggle("files"), { typing: true });
shortcut("find", () => void toggle("find"), { typing: true });
for (const side of Object.keys(SIDES)) if (isListed(side)) show(side);
if (root.classList.contains("files-opened")) import("./beside.js");

// Once there is something that paths may stand in.
let linked = false;
function link() {
  if (linked || !document.querySelector("#messages :is(.markdown code, .plain-output, .tool-error)")) return;
  linked = true;
  import("./file-links.js").catch(() => {
    linked = false; // the server was away: with the next change
  });
}
for (const name of ["page:changed", "page:replaced", "htmx:afterSwap"]) document.addEventListener(name, link);
onPage(link);
