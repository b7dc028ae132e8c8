// Goes to the message that the address names (`#msg_…`), loading older ones until it is there.
import { onPage, thisPage } from "./page.js";

const scroller = document.getElementById("scroller");

async function older(until) {
  const button = document.getElementById("older");
  const url = button?.getAttribute("hx-get");
  if (!url) return false;
  await window.htmx.ajax("GET", `${url}&until=${until}`, { source: button, target: "#older", swap: "outerHTML" });
  return document.getElementById("older")?.getAttribute("hx-get") !== url;
}

async function jump() {
  const id = location.hash.slice(1);
  if (!/^msg_\w+$/.test(id)) return;
  const here = thisPage();
  document.dispatchEvent(new CustomEvent("page:jumped"));
  while (here() && !document.getElementById(id) && (await older(id)));
  if (!here()) return;
  const found = document.getElementById(id);
  if (!found) return;
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
