// What changes on the disk of the project, told while somebody wants to know it.
import { Line } from "./line.js";
import { onPage } from "./page.js";
import { root } from "./root.js";

const HEARTBEAT = 25_000; // the server sends one every 10 s
const listeners = [];
let wanted = false;

const line = new Line({
  address: () => `${root}/ws/p/${document.body.dataset.project}/files/`,
  receives: (data) => tell(JSON.parse(data).changed),
  opened: () => (hello(), tell([""])), // what was missed
}, HEARTBEAT);

// The folders beside the project are those of the session.
const hello = () => line.send(document.body.dataset.session || "new");

// `paths` are as the session sees them; an empty one is all of the project.
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

onPage(hello);
window.addEventListener("pagehide", () => line.close());
window.addEventListener("pageshow", (event) => event.persisted && wanted && line.open());
// Where the system tells of nothing, who comes back looks again.
window.addEventListener("focus", () => wanted && tell([""]));
