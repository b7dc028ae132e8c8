// What is read out of servers. One that was acted on may have ended and begun anew between two readings, or before the
// answer to the press comes: what became of it is said then too, and nothing after it that was true before.
const WORKING = "connecting";
let pressed = null;

export const heads = (section) => new Map([...section.querySelectorAll(".server-head")].map((head) => [head.id, head]));
export const words = (section) => new Map([...heads(section)].map(([id, head]) => [id, head.dataset.said]));

export function press({ target }) {
  const head = target.closest?.(".server")?.querySelector(".server-head");
  if (head) pressed = { id: head.id, changed: false, settled: false };
}

// The server has told that something is new.
export function changed() {
  if (pressed) pressed.changed = true;
}

export const begun = (said, text) => pressed?.settled || (said.textContent = text);

// `before` are the words of each as they were shown.
export function tell(said, section, before) {
  const news = [];
  for (const [id, head] of heads(section)) {
    const settles = pressed?.id === id && pressed.changed && !pressed.settled && head.dataset.state !== WORKING;
    if (settles) pressed.settled = true;
    if (before.has(id) && (settles || before.get(id) !== head.dataset.said)) news.push(head.dataset.said);
  }
  if (news.length) said.textContent = news.join("; ");
}
