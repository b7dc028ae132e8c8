// Rows that were made and are far from the screen now go, so that a page somebody scrolls through stays small.

const PIECES = 24;

export const made = [];

// Makes room for one more piece: the one farthest away becomes a placeholder again, unless somebody is at work in it.
export function release(observe) {
  for (let at = made.length - 1; at >= 0; at -= 1) {
    if (!made[at].nodes.every((node) => node.isConnected)) made.splice(at, 1);
  }
  if (made.length < PIECES) return;
  const places = made.map(place);
  const at = places.reduce((best, { away }, index) => (away > places[best].away ? index : best), 0);
  const [{ later, nodes }] = made.splice(at, 1);
  if (nodes.some(busy)) return;
  later.rows[0].cells[0].style.height = `${places[at].height}px`;
  nodes[0].replaceWith(later);
  for (const node of nodes) node.remove();
  observe(later);
}

function place({ nodes }) {
  const { top } = nodes[0].getBoundingClientRect();
  const { bottom } = nodes.at(-1).getBoundingClientRect();
  return { away: Math.max(top - innerHeight, -bottom, 0), height: bottom - top };
}

function busy(node) {
  const selection = getSelection();
  const selected = !selection.isCollapsed && selection.containsNode(node, true);
  return selected || node.contains(document.activeElement) || node.querySelector("form, textarea") !== null;
}
