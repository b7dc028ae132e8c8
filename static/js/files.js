// The files of the project: in the list's place, and those that are open beside the conversation. What that takes is loaded
// when it is used.
import "./file-links.js";
import { shortcut } from "./shortcuts.js";

const root = document.documentElement;
const panel = () => import("./files-panel.js");
const isListed = () => root.classList.contains("files-listed");

// A file of the project beside the conversation, at a line (from 1) where one is named.
export const openFile = async (path, how) => (await import("./beside.js")).open(path, how);

// The path of the file that is shown beside the conversation, empty for none.
export function shownFile() {
  try {
    return JSON.parse(localStorage.getItem(`opened:${document.body.dataset.project}`))?.shown ?? "";
  } catch {
    return "";
  }
}

async function list(side) {
  const files = side === "files";
  root.classList.toggle("files-listed", files);
  if (files) localStorage.setItem("listed", side);
  else localStorage.removeItem("listed");
  for (const button of document.querySelectorAll("[data-side]")) button.setAttribute("aria-pressed", String(button.dataset.side === side));
  if (files) await (await panel()).show();
}

// Shown, with the keyboard in it; from there once more, away.
async function toggle() {
  const away = isListed() && document.getElementById("side-files").contains(document.activeElement);
  if (root.classList.contains("list-folded")) document.querySelector("[data-fold-list]").click();
  await list(away ? "sessions" : "files");
  if (away) document.getElementById("prompt").focus();
  else (await panel()).focus();
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
shortcut("files", () => void toggle(), { typing: true });
if (isListed()) list("files");
if (root.classList.contains("files-opened")) import("./beside.js");
