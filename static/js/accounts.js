// The page of accounts: finding a provider, copying a code, and where the focus goes when a row has changed.
import "./toast.js";
import { gettext, interpolate } from "./words.js";

const list = document.getElementById("accounts");
const query = document.getElementById("accounts-query");
const found = document.getElementById("accounts-found");
const none = document.getElementById("accounts-none");

function connected() {
  const connected = list.querySelectorAll(".account-state.connected").length;
  return interpolate(gettext("%(connected)s of %(count)s connected"), { connected, count: list.children.length });
}

function search() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of list.children) {
    row.hidden = !words.every((word) => row.dataset.words.includes(word));
    shown += row.hidden ? 0 : 1;
  }
  none.hidden = shown > 0;
  found.textContent = words.length ? interpolate(gettext("%(shown)s found"), { shown }) : connected();
}

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = gettext("Copied");
  } catch {
    button.textContent = gettext("Not allowed");
  }
  setTimeout(() => (button.textContent = gettext("Copy")), 1500);
}

// A new row took the place of what had the focus. Of a row that changed by itself only if nothing else has it.
function arrived(row) {
  delete row.dataset.fresh;
  if (document.activeElement && document.activeElement !== document.body) return;
  (row.querySelector(".account-waiting a") || row.querySelector("h2")).focus();
}

query.addEventListener("input", search);
list.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
  const cancel = event.target.closest("[data-cancel]");
  if (cancel) window.htmx.trigger(cancel.form, "htmx:abort");
});
list.addEventListener("toggle", (event) => {
  if (event.target.open) event.target.querySelector("input:not([type=hidden])")?.focus();
}, true);
list.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && event.target.closest("details[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});
// Why the last key or domain was not taken says nothing of the one that is sent now.
list.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target.matches("form")) event.target.closest(".account").querySelector(".account-problem").replaceChildren();
});
document.addEventListener("htmx:afterSettle", () => {
  const row = list.querySelector("[data-fresh]");
  if (!row) return;
  arrived(row);
  search();
});
search();
