// Selected text of an answer that is being written stays selected: each frame makes its nodes anew, but its
// characters stay where they are counted from the beginning of the answer. Blanks do not count: what is settled has
// others between its paragraphs.

export function keepSelection(change) {
  const selection = getSelection();
  const { anchorNode, anchorOffset, focusNode, focusOffset, isCollapsed } = selection;
  const ends = isCollapsed ? [] : [measure(anchorNode, anchorOffset), measure(focusNode, focusOffset)];
  change();
  if (ends.every(({ node }) => node.isConnected)) return;
  const first = Math.min(...ends.map(({ count }) => count));
  const [anchor, focus] = ends.map((end) => locate(end, end.count === first));
  if (anchor && focus) selection.setBaseAndExtent(...anchor, ...focus);
}

function measure(node, offset) {
  const element = node.nodeType === Node.TEXT_NODE ? node.parentElement : node;
  const text = element.closest(".part.text");
  if (!text) return { node, offset };
  const before = new Range();
  before.setStart(text, 0);
  before.setEnd(node, offset);
  return { node, offset, id: text.id, count: before.toString().replace(/\s/g, "").length };
}

// The beginning of a selection stands before the character that follows, its end behind the one before.
function locate({ node, offset, id, count }, begins) {
  if (node.isConnected) return [node, offset];
  const text = document.getElementById(id);
  const pieces = text && document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  let left = begins ? count + 1 : count;
  for (let piece = pieces?.nextNode(); piece; piece = pieces.nextNode()) {
    for (const { index } of piece.data.matchAll(/\S/g)) {
      left -= 1;
      if (!left) return [piece, begins ? index : index + 1];
    }
  }
  return null;
}
