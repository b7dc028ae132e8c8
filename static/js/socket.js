// The live connection: frames in, state shown, reconnect from the last event seen.
import { apply, ensure, replace } from "./fragments.js";

const SILENCE = 25_000; // the server sends a heartbeat every 10 s
const LONGEST = 20_000;

const { project, session } = document.body.dataset;
const label = document.getElementById("connection");
let cursor = Number(document.getElementById("conversation").dataset.cursor) || 0;
let attempt = 0;
let socket = null;
let watchdog = 0;
let retry = 0;

function show(state, text) {
  label.dataset.state = state;
  label.textContent = text;
  label.title = text;
}

function connect() {
  clearTimeout(retry);
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const query = new URLSearchParams({ session, since: cursor });
  socket = new WebSocket(`${scheme}//${location.host}/ws/p/${project}/?${query}`);
  socket.onopen = () => watch();
  socket.onmessage = (message) => receive(JSON.parse(message.data));
  socket.onclose = (event) => lost(event);
}

function receive(frame) {
  watch();
  if (label.dataset.state !== "connected") show("connected", "Connected");
  attempt = 0;
  frame.missing?.forEach(ensure);
  if (frame.html) apply(frame.html);
  if (frame.seq) cursor = Math.max(cursor, frame.seq);
  if (frame.html || frame.missing) document.dispatchEvent(new CustomEvent("page:changed"));
  if (frame.refresh) refresh();
}

// The log does not reach back, or much changed at once: read the rows anew and go on from their cursor.
async function refresh() {
  socket.onclose = null;
  socket.close();
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) throw new Error(answer.status);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const id of ["conversation", "states", "session-list", "activity", "meter", "title"]) {
      const node = page.getElementById(id);
      if (node) replace(document.getElementById(id), document.adoptNode(node));
    }
  } catch {
    return lost({});
  }
  cursor = Number(document.getElementById("conversation").dataset.cursor) || 0;
  document.dispatchEvent(new CustomEvent("page:replaced"));
  connect();
}

function watch() {
  clearTimeout(watchdog);
  watchdog = setTimeout(() => socket.close(4000), SILENCE);
}

function lost(event) {
  clearTimeout(watchdog);
  if (event.code === 4401 || event.code === 4404) {
    show("offline", event.code === 4401 ? "Signed out: open the link of the terminal again" : "Gone");
    return;
  }
  attempt += 1;
  const longest = Math.min(LONGEST, 500 * 2 ** attempt);
  wait(Date.now() + longest / 2 + (Math.random() * longest) / 2);
}

function wait(until) {
  const left = until - Date.now();
  if (left <= 0) return connect();
  const words = navigator.onLine === false ? "Offline" : `Reconnecting in ${Math.ceil(left / 1000)} s`;
  show(navigator.onLine === false ? "offline" : "reconnecting", words);
  retry = setTimeout(() => wait(until), Math.min(left, 1000));
}

window.addEventListener("online", () => {
  if (socket?.readyState === WebSocket.CLOSED) connect();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && socket?.readyState === WebSocket.CLOSED) connect();
});

connect();
