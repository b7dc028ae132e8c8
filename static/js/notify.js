// Notifications of the browser, of what asks, is done or failed; asked for by a click in the inbox, chosen kind by kind on the
// settings page. What shows them is loaded with the first.
import { gettext } from "./words.js";

const STORED = "notify";
const ALL = { asks: true, done: true, failed: true };
const button = document.getElementById("inbox-notify");

export const allowed = () => "Notification" in window && Notification.permission === "granted";

export function chosen() {
  const kept = localStorage.getItem(STORED);
  if (kept === "yes") return ALL; // of an older version, which had one kind
  return kept?.startsWith("{") ? JSON.parse(kept) : {};
}

export function choose(kinds) {
  localStorage.setItem(STORED, JSON.stringify(kinds));
  show();
}

const any = () => allowed() && Object.keys(ALL).some((kind) => chosen()[kind]);

export async function notify(kind, entries) {
  if (!entries.length || !allowed() || !chosen()[kind] || !document.hidden) return;
  const { tell } = await import("./told.js");
  tell(entries, chosen().sound);
}

function show() {
  button.hidden = false;
  button.disabled = Notification.permission === "denied";
  button.setAttribute("aria-pressed", String(any()));
  button.textContent = button.disabled ? gettext("Notifications are blocked") : any() ? gettext("Notifies you") : gettext("Notify me");
}

async function press() {
  if (any()) choose({});
  else if ((await Notification.requestPermission()) === "granted") choose(ALL);
  show();
}

if (button && "Notification" in window) {
  button.addEventListener("click", press);
  show();
}

// What is installed, or told by push, has a worker.
if (localStorage.push || !matchMedia("(display-mode: browser)").matches) import("./installed.js");
