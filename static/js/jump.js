// Goes to the message that the address names (`#msg_…`), loading older ones until it is there.
import { onPage, thisPage } from "./page.js";
import { lead } from "./scroll.js";

const scroller = document.getElementById("scroller");

async function older(until) {
  const button = document.getElementById("older");
  const url = button?.getAttribute("hx-get");
  if (!url) return false;
  // It asks by itself where it is seen, and once at a time.
  if (button.classList.contains("htmx-request")) return answered(button);
  await window.htmx.ajax("GET", `${url}&until=${until}`, { source: button, target: "#older", swap: "outerHTML" });
  return document.getElementById("older")?.getAttribute("hx-get") !== url;
}

const answered = (button) => new Promise((done) => {
  const heard = ({ detail }) => {
    if (detail.requestConfig.elt !== button) return; // `elt` is what is around it, as it is gone by then
    document.removeEventListener("htmx:afterRequest", heard);
    done(detail.successful);
  };
  document.addEventListener("htmx:afterRequest", heard);
});

// A message of this page, once it is there; null where there is none. On a way of `lead`.
export async function reach(id) {
  const here = thisPage();
  while (here() && !document.getElementById(id) && (await older(id)));
  return here() ? document.getElementById(id) : null;
}

async function jump() {
  const id = location.hash.slice(1);
  if (/^msg_\w+$/.test(id)) await lead(() => arrive(id));
}

async function arrive(id) {
  const found = await reach(id);
  if (!found) return;
  (await import("./fold-turns.js")).showTurn(found);
  document.dispatchEvent(new CustomEvent("page:jumped"));
  found.tabIndex = -1;
  found.focus({ preventScroll: true });
  scroller.scrollTop += found.getBoundingClientRect().top - scroller.getBoundingClientRect().top - 12;
  document.dispatchEvent(new CustomEvent("page:arrived"));
}

window.addEventListener("hashchange", jump);
// What was searched for is marked by a module of its own, which is told when the message is there.
async function begin() {
  const here = thisPage();
  if (document.getElementById("conversation")?.dataset.found) await import("./found.js");
  if (here()) await jump();
}
onPage(() => void begin());
