// The live connection: frames in, state shown, reconnect from the last event seen.
import { whenFree } from "./busy.js";
import { apply, ensure, replace } from "./fragments.js";
import { Line } from "./line.js";
import { onPage, thisPage } from "./page.js";
import { root } from "./root.js";
import { gettext, interpolate } from "./words.js";

const HEARTBEAT = 25_000; // the server sends one every 10 s
const FOR_GOOD = { 4401: gettext("Signed out: open the link of the terminal again"), 4404: gettext("Gone") };

const label = document.getElementById("connection");
let cursor = 0;
let ticks = 0;
let loads = false; // the first connection of a page that was just loaded

const line = new Line({ address, opens: () => clearTimeout(ticks), receives: (data) => receive(JSON.parse(data)), lost: wait, silent, ends }, HEARTBEAT);

function show(state, text) {
  label.dataset.state = state;
  label.textContent = text;
  label.title = text;
}

function address() {
  const { project, session } = document.body.dataset;
  return `${root}/ws/p/${project}/?${new URLSearchParams({ session, since: cursor, ...(loads && { loads: 1 }) })}`;
}

function connected() {
  loads = false;
  show("connected", gettext("Connected"));
  document.dispatchEvent(new CustomEvent("page:connected"));
}

function receive(frame) {
  if (label.dataset.state !== "connected") connected();
  line.holds();
  if (frame.html || frame.missing) put(frame);
  if (frame.seq) cursor = Math.max(cursor, frame.seq);
  if (frame.refresh) refresh();
}

// Most frames bring more of an answer and nothing else, which few have to know: `page:grown`.
function put({ missing = [], html }) {
  missing.forEach(ensure);
  const changed = html && apply(html);
  document.dispatchEvent(new CustomEvent(changed || missing.length ? "page:changed" : "page:grown"));
}

// The log does not reach back, or much changed at once: read the rows anew and go on from their cursor.
async function refresh() {
  const here = thisPage();
  line.leave();
  let page = null;
  try {
    const answer = await fetch(location.href, { signal: AbortSignal.timeout(HEARTBEAT) });
    if (!answer.ok) throw new Error(answer.status);
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return here() && line.again();
  }
  whenFree(() => here() && renew(page));
}

function renew(page) {
  for (const id of ["conversation", "states", "session-list", "activity", "meter", "title"]) {
    const node = page.getElementById(id);
    const keeps = id === "session-list" && !document.dispatchEvent(new CustomEvent("list:arrives", { cancelable: true }));
    if (node && !keeps) replace(document.getElementById(id), document.adoptNode(node));
  }
  document.dispatchEvent(new CustomEvent("page:replaced"));
  begin();
}

// Goes on from what the page shows.
function begin() {
  cursor = Number(document.getElementById("conversation").dataset.cursor) || 0;
  line.open();
}

function ends(code) {
  if (FOR_GOOD[code]) show("offline", FOR_GOOD[code]);
  return code in FOR_GOOD;
}

function silent() {
  document.dispatchEvent(new CustomEvent("page:silent"));
}

function wait(until) {
  const left = until - Date.now();
  const seconds = Math.max(1, Math.ceil(left / 1000));
  if (navigator.onLine === false) show("offline", gettext("Offline"));
  else show("reconnecting", interpolate(gettext("Reconnecting in %(seconds)s s"), { seconds }));
  if (left > 1000) ticks = setTimeout(() => wait(until), 1000);
}

function leave() {
  clearTimeout(ticks);
  line.close();
  connecting();
}

const connecting = () => show("connecting", gettext("Connecting"));
window.addEventListener("pagehide", connecting);
onPage(() => {
  loads = true;
  begin();
  return leave;
});
