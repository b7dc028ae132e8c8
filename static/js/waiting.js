// The live part of the inbox: its list, its count on the button and in the title, and what has just come.
import { apply } from "./fragments.js";
import { notify } from "./notify.js";

const SILENCE = 25_000; // the server sends a heartbeat every 10 s
const LONGEST = 20_000;
const SIGNED_OUT = 4401;
const COUNTED = /^\(\d+\) /;

const button = document.getElementById("inbox-button");
const badge = document.getElementById("inbox-count");
const news = document.getElementById("inbox-news");
const title = document.querySelector("title");
let known = null;
let attempt = 0;
let watchdog = 0;
let socket = null;

function connect() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  socket = new WebSocket(`${scheme}//${location.host}/ws/inbox/`);
  socket.onopen = () => {
    watch();
    document.dispatchEvent(new CustomEvent("servers:changed"));
  };
  socket.onmessage = (message) => receive(JSON.parse(message.data));
  socket.onclose = (event) => {
    clearTimeout(watchdog);
    if (event.code === SIGNED_OUT) return;
    attempt += 1;
    setTimeout(connect, Math.min(LONGEST, 500 * 2 ** attempt) * (0.5 + Math.random() / 2));
  };
}

function watch() {
  clearTimeout(watchdog);
  watchdog = setTimeout(() => socket.close(4000), SILENCE);
}

function receive({ html, waiting, rules, servers }) {
  watch();
  attempt = 0;
  if (rules) document.dispatchEvent(new CustomEvent("rules:changed", { detail: rules }));
  if (servers) document.dispatchEvent(new CustomEvent("servers:changed"));
  if (!waiting) return;
  apply(html);
  count(waiting.length);
  const fresh = waiting.filter(({ id }) => known && !known.has(id));
  known = new Set(waiting.map(({ id }) => id));
  if (fresh.length) news.textContent = `Waiting for you: ${fresh.map((entry) => `${entry.title} ${entry.text}`).join("; ")}`;
  fresh.forEach(notify);
  document.dispatchEvent(new CustomEvent("inbox:changed"));
}

function count(number) {
  badge.textContent = number;
  badge.hidden = !number;
  const words = number ? `${number} wait${number === 1 ? "s" : ""} for you` : "nothing waits";
  button.setAttribute("aria-label", `Approvals: ${words}`);
  mark();
}

// Other parts of the page write the title too; the count stays before whatever they write.
function mark() {
  const number = badge.hidden ? "" : `(${badge.textContent}) `;
  const wanted = number + document.title.replace(COUNTED, "");
  if (document.title !== wanted) document.title = wanted;
}

new MutationObserver(mark).observe(title, { childList: true });
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && socket.readyState === WebSocket.CLOSED) connect();
});

connect();
