// The live part of the inbox: its list, its count on the button and in the title, and what has just come.
import { apply } from "./fragments.js";
import { Line } from "./line.js";
import { notify } from "./notify.js";
import { root } from "./root.js";
import { gettext, interpolate, ngettext } from "./words.js";

const HEARTBEAT = 25_000; // the server sends one every 10 s
const SIGNED_OUT = 4401;
const COUNTED = /^\(\d+\) /;

const button = document.getElementById("inbox-button");
const badge = document.getElementById("inbox-count");
const news = document.getElementById("inbox-news");
const title = document.querySelector("title");
let known = null;
let announced = [];

const line = new Line({
  address: () => `${root}/ws/inbox/`,
  opened: () => document.dispatchEvent(new CustomEvent("servers:changed")),
  receives: (data) => receive(JSON.parse(data)),
  ends: (code) => code === SIGNED_OUT,
}, HEARTBEAT);

function receive({ html, waiting, rules, servers, keys, ended }) {
  line.holds();
  if (keys) document.dispatchEvent(new CustomEvent("keys:known", { detail: keys }));
  if (rules) document.dispatchEvent(new CustomEvent("rules:changed", { detail: rules }));
  if (servers) document.dispatchEvent(new CustomEvent("servers:changed"));
  for (const kind of ["done", "failed"]) notify(kind, (ended ?? []).filter((one) => one.kind === kind));
  if (!waiting) return;
  apply(html);
  count(waiting.length);
  const fresh = waiting.filter(({ id }) => known && !known.has(id));
  known = new Set(waiting.map(({ id }) => id));
  const elsewhere = fresh.filter(({ url }) => url !== location.pathname); // here its card is announced
  if (elsewhere.length || !announced.every((id) => known.has(id))) announce(elsewhere);
  notify("asks", fresh.filter(({ kind }) => !kind)); // how a run ended is told by its session
  document.dispatchEvent(new CustomEvent("inbox:changed"));
}

function announce(entries) {
  announced = entries.map(({ id }) => id);
  const words = entries.map((entry) => `${entry.title} ${entry.text}`).join("; ");
  news.textContent = words && interpolate(gettext("Waiting for you: %(words)s"), { words });
}

function count(number) {
  badge.textContent = number;
  badge.hidden = !number;
  navigator.setAppBadge?.(number).catch(() => {});
  const words = ngettext("Approvals: %(number)s waits for you", "Approvals: %(number)s wait for you", number);
  button.setAttribute("aria-label", number ? interpolate(words, { number }) : gettext("Approvals: nothing waits"));
  mark();
}

// Other parts of the page write the title too; the count stays before whatever they write.
function mark() {
  const number = badge.hidden ? "" : `(${badge.textContent}) `;
  const wanted = number + document.title.replace(COUNTED, "");
  if (document.title !== wanted) document.title = wanted;
}

// Whether any page is looked at is known to all of them.
let looks = null;
function looked() {
  looks?.();
  looks = null;
  if (!document.hidden) navigator.locks?.request("looked-at", { mode: "shared" }, () => new Promise((end) => (looks = end)));
}
document.addEventListener("visibilitychange", looked);
looked();

new MutationObserver(mark).observe(title, { childList: true });
line.open();
