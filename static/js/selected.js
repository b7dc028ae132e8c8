// What was selected last in the page, outside of fields: whoever goes to the prompt has it selected no more.
import { onPage } from "./page.js";

let range = null;

document.addEventListener("selectionchange", () => {
  const selection = getSelection();
  if (!selection.isCollapsed) range = selection.getRangeAt(0).cloneRange();
});
onPage(() => {
  range = null;
});

export const selected = () => range?.toString() ?? "";
