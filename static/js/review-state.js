// What the review panel is asked for: the scope (of the address, so that it can be linked to) and how to read it
// (remembered). Every request of the panel carries it.
import { base as session, onPage } from "./page.js";

const VIEW = "review:view";
const SPACE = "review:space";
const narrow = matchMedia("(max-width: 700px)");
const chosen = { scope: "session", message: "", part: "", stop: "" }; // `stop` is one of the tour

export const judged = new Set(); // the hunks, by name, that a verdict was given on here
export const panel = document.getElementById("review");
export const base = () => `${session()}/review`;

onPage(() => {
  const query = new URLSearchParams(location.search);
  for (const name of Object.keys(chosen)) chosen[name] = query.get(name) || (name === "scope" ? "session" : "");
  panel.scrollTop = 0;
});

export function asked() {
  const view = narrow.matches ? "unified" : localStorage.getItem(VIEW) || "unified";
  return { ...chosen, view, w: localStorage.getItem(SPACE) === "1" ? "1" : "0" };
}

// `values` may hold a list; the answer is merged into the panel (review.js). An element has one request at a time:
// what is sent for `source` waits for what was sent for it before.
export async function request(method, path, values, source = panel) {
  try {
    await window.htmx.ajax(method, base() + path, { source, target: panel, swap: "innerHTML", values });
  } catch {
    // A newer request took its place, or toast.js has said what is wrong.
  }
}

// Until the panel shows it: news of the change may have taken the place of the request.
export async function reload() {
  await request("GET", "", panel.querySelector("#review-files") && !chosen.stop ? { bare: "1" } : {});
  for (let ended; ended !== newest; ) await (ended = newest);
}

let newest; // ends with the newest request whose answer is for the panel
document.addEventListener("htmx:beforeRequest", ({ detail: { target, xhr } }) => {
  if (target === panel) newest = new Promise((end) => xhr.addEventListener("loadend", end));
});

export const chooseStop = (stop) => chooseScope(chosen.scope, chosen.message, chosen.part, stop);

export function chooseScope(scope, message = "", part = "", stop = "") {
  Object.assign(chosen, { scope, message, part, stop });
  const address = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(chosen)) {
    if (value && !(name === "scope" && value === "session")) address.set(name, value);
    else address.delete(name);
  }
  const text = address.toString();
  history.replaceState(history.state, "", text ? `?${text}` : location.pathname);
  return reload();
}

export function chooseReading(name, value) {
  localStorage.setItem(name === "view" ? VIEW : SPACE, value);
  return reload();
}

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (!detail.path.startsWith(base()) || detail.path.includes("?")) return;
  for (const [name, value] of Object.entries(asked())) {
    if (value && detail.parameters[name] === undefined) detail.parameters[name] = value;
  }
});

narrow.addEventListener("change", () => panel.querySelector("#review-files") && reload());
