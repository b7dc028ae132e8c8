// What changes on the disk of the project, told while somebody wants to know it.
import { Line } from "./line.js";

const HEARTBEAT = 25_000; // the server sends one every 10 s
const listeners = [];
let wanted = false;

const line = new Line({
  address: () => `/ws/p/${document.body.dataset.project}/files/`,
  receives: (data) => tell(JSON.parse(data).changed),
  opened: () => tell([""]), // what was missed
}, HEARTBEAT);

// `paths` are relative to the project; an empty one is all of it.
function tell(paths) {
  if (paths?.length) for (const listener of listeners) listener(paths);
}

export function onNews(listener) {
  listeners.push(listener);
}

export function listen() {
  if (wanted) return;
  wanted = true;
  line.open();
}

window.addEventListener("pagehide", () => line.close());
window.addEventListener("pageshow", (event) => event.persisted && wanted && line.open());
// Where the system tells of nothing, who comes back looks again.
window.addEventListener("focus", () => wanted && tell([""]));
