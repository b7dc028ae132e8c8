// Verdicts by click: undo, keep, redo, viewed, on a hunk or a file; conflicts settled; the undo of all.
import { asked, base, judged, panel, request } from "./review-state.js";
import { sent } from "./review-typing.js";
import { gettext } from "./words.js";

const STAGED = { "stage-keep": "keep", "stage-drop": "drop" };
const KEPT = { keep: "1", unkeep: "0" };

// Where a button belongs: its hunk, or the head of its file.
function holder(element) {
  return element.closest("[data-hunk]") || element.closest(".file-head");
}

function place(element) {
  const pick = element.closest("[data-hunk]")?.querySelector("[data-pick]");
  const path = element.closest(".file").dataset.key;
  return pick ? { path, hunk: pick.dataset.pick } : { path };
}

async function send(element, path, values) {
  const file = element.closest(".file");
  if (element.getAttribute("aria-busy") === "true") return;
  element.setAttribute("aria-busy", "true");
  file.querySelector(".file-problem").replaceChildren();
  await request("POST", path, { ...place(element), ...values }, element);
  element.removeAttribute("aria-busy");
  const outcome = document.activeElement.closest?.("[data-hunk]")?.querySelector(".hunk-state");
  if (outcome) panel.querySelector("#review-live").textContent = outcome.textContent;
}

function give(button) {
  const verdict = button.dataset.do;
  const hunk = button.closest("[data-hunk]");
  if (hunk) judged.add(hunk.dataset.hunk);
  if (verdict === "show") return show(button);
  if (verdict === "undo") return send(button, "/undo", { words: words(button) });
  if (STAGED[verdict]) return stage(button, STAGED[verdict]);
  if (verdict === "redo") return send(button, "/redo", button.dataset.operation ? { operation: button.dataset.operation } : {});
  return send(button, "/keep", { on: KEPT[verdict] });
}

// What waits in review mode has its own verdicts, on what is shown here; the panel is renewed by the event that
// follows, or answered with both sides of a conflict.
function stage(button, verdict, more = { words: words(button) }) {
  const { path, hunk } = place(button);
  const file = button.closest(".file");
  file.querySelector(".file-problem").replaceChildren();
  const values = { ...asked(), file: path, ...(hunk ? { hunk } : {}), drawn: file.dataset.drawn, noted: "1", panel: "1", ...more };
  return window.htmx.ajax("POST", base().replace(/review$/, `staging/${verdict}`), { source: button, target: "#toasts", swap: "beforeend", values });
}

function words(button) {
  const field = holder(button).querySelector("[name=words]");
  sent(field);
  return field?.value || "";
}

function show(button) {
  const hunk = button.closest("[data-hunk]");
  const open = hunk.toggleAttribute("data-open");
  for (const rest of hunk.parentElement.querySelectorAll(`[data-of="${CSS.escape(hunk.dataset.hunk)}"]`)) rest.toggleAttribute("data-open", open);
  button.setAttribute("aria-expanded", String(open));
  button.textContent = open ? gettext("Hide") : gettext("Show");
}

function why(button, open = button.getAttribute("aria-expanded") !== "true") {
  const place = button.closest(".hunk-bar, .file-head");
  const box = place.querySelector(":scope > .hunk-why") || document.getElementById("review-why").content.firstElementChild.cloneNode(true);
  if (!box.isConnected) place.querySelector(":scope > .hunk-do, :scope > .file-do").after(box);
  button.setAttribute("aria-expanded", String(open));
  box.hidden = !open;
  (open ? box.firstElementChild : button).focus();
}

panel.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  if (button.dataset.do) give(button);
  else if (button.dataset.why !== undefined) why(button);
  else if (button.dataset.settleClose !== undefined) {
    const hunk = button.closest("[data-hunk]");
    button.closest("form").remove();
    hunk.focus({ preventScroll: true });
  } else if (button.dataset.scopeUndo !== undefined) {
    window.htmx.ajax("GET", `${base()}/undo`, { source: button, target: "#dialog", swap: "innerHTML" });
  }
});

panel.addEventListener("change", ({ target }) => {
  if (target.dataset.do === "viewed") send(target, "/view", { on: target.checked ? "1" : "0" });
  const stretch = target.name?.startsWith("choice-") && target.value === "hand" && target.closest(".by-hand");
  if (stretch) stretch.querySelector("textarea").focus();
});

panel.addEventListener("input", ({ target }) => {
  const hand = target.closest(".by-hand")?.querySelector("[type=radio]");
  if (hand) hand.checked = true;
});

panel.addEventListener("submit", (event) => {
  if (event.target.dataset.settle === undefined) return;
  event.preventDefault();
  const values = Object.fromEntries(new FormData(event.target));
  event.target.dataset.sent = "";
  event.target.querySelectorAll("textarea").forEach(sent);
  const button = event.submitter || event.target;
  if (button.closest(".file").dataset.drawn) stage(button, "resolve", values);
  else send(button, "/resolve", values);
});

panel.addEventListener("keydown", (event) => {
  if (event.target.name !== "words" || event.isComposing) return;
  const box = holder(event.target);
  if (event.key === "Enter") box.querySelector("[data-do=undo], [data-do=stage-drop]").focus(); // the verdict is a press of its own
  else if (event.key === "Escape") {
    event.preventDefault();
    why(box.querySelector("[data-why]"), false);
  }
  else return;
  event.preventDefault();
});
