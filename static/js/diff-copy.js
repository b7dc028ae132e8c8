// Copying from a diff takes code only: no numbers, no signs, and of two sides the one it began on.

function side(cell) {
  return cell?.classList.contains("old") ? "old" : cell?.classList.contains("new") ? "new" : "";
}

document.addEventListener("selectstart", ({ target }) => {
  const element = target.nodeType === Node.ELEMENT_NODE ? target : target.parentElement;
  const table = element?.closest("table.diff.split");
  if (table) table.dataset.selects = side(element.closest("td.line"));
});

function lines(range, only) {
  const cells = [...range.cloneContents().querySelectorAll("td.line")];
  return cells
    .filter((cell) => !cell.classList.contains("none") && (!only || cell.classList.contains(only)))
    .map((cell) => {
      for (const note of cell.querySelectorAll(".eof")) note.remove();
      return cell.textContent;
    });
}

document.addEventListener("copy", (event) => {
  const selection = getSelection();
  if (selection.isCollapsed || event.target.closest?.("input, textarea")) return;
  const range = selection.getRangeAt(0);
  const common = range.commonAncestorContainer;
  const element = common.nodeType === Node.ELEMENT_NODE ? common : common.parentElement;
  const table = element.closest("table.diff");
  if (!table || element.closest("td")) return;
  event.clipboardData.setData("text/plain", lines(range, table.dataset.selects || "").join("\n"));
  event.preventDefault();
});
