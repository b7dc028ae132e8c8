// Push to this browser, on the page of notifiers: a subscription at its push service, which the server is told of. One that the
// server has forgotten is ended here.
import { gettext } from "./words.js";

const STORED = "push";

async function digest(text) {
  const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const isKnown = async (subscription) => Boolean(document.querySelector(`[data-push="${await digest(subscription.endpoint)}"]`));

const subscribed = async () => (await navigator.serviceWorker.getRegistration())?.pushManager.getSubscription();

// It is offered where it can be had, and once.
async function show() {
  const section = document.getElementById("push");
  if (!section || !window.PushManager || !navigator.serviceWorker) return;
  const subscription = await subscribed();
  const known = Boolean(subscription) && (await isKnown(subscription));
  if (subscription && !known) {
    await subscription.unsubscribe();
    localStorage.removeItem(STORED);
  }
  section.hidden = known;
}

async function subscribe(key) {
  localStorage.setItem(STORED, "yes");
  const { registered } = await import("./installed.js");
  await registered;
  const { pushManager } = await navigator.serviceWorker.ready;
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

function complain(text) {
  document.getElementById("push-problem").textContent = text;
}

async function add({ dataset }) {
  complain("");
  if ((await Notification.requestPermission()) !== "granted") return complain(gettext("This browser does not allow notifications of this address."));
  try {
    const { endpoint, keys } = (await subscribe(dataset.key)).toJSON();
    await window.htmx.ajax("POST", dataset.add, { target: "#notifiers", swap: "outerHTML", values: { endpoint, ...keys } });
  } catch {
    localStorage.removeItem(STORED);
    complain(gettext("This browser could not reach its push service."));
  }
}

document.addEventListener("click", ({ target }) => {
  if (target.closest("#push-add")) add(document.getElementById("push"));
});
document.addEventListener("htmx:afterSettle", show);
show();
