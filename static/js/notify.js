// A notification of the browser for a request that comes while nobody looks; asked for by a click in the inbox.

const STORED = "notify";
const button = document.getElementById("inbox-notify");

const wanted = () => localStorage.getItem(STORED) === "yes" && Notification.permission === "granted";

// Tabs of the same request share its tag, so one notification shows however many are open.
export function notify({ id, title, text, url }) {
  if (!("Notification" in window) || !wanted() || !document.hidden) return;
  const shown = new Notification(title, { body: text, tag: id });
  shown.onclick = () => {
    window.focus();
    if (url !== location.pathname) window.htmx.location.href = url;
    shown.close();
  };
}

function show() {
  button.hidden = false;
  button.disabled = Notification.permission === "denied";
  button.setAttribute("aria-pressed", String(wanted()));
  button.textContent = button.disabled ? "Notifications are blocked" : wanted() ? "Notifies you" : "Notify me";
}

async function choose() {
  if (wanted()) localStorage.setItem(STORED, "no");
  else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(STORED, "yes");
  show();
}

if ("Notification" in window) {
  button.addEventListener("click", choose);
  show();
}
