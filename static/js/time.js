// Ages in words, kept fresh.
import { onPage } from "./page.js";

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
];

function age(moment) {
  const passed = Date.now() - moment;
  const unit = UNITS.find(([length]) => passed >= length);
  return unit ? `${Math.floor(passed / unit[0])} ${unit[1]}` : "now";
}

function tick() {
  for (const node of document.querySelectorAll("time[data-ago]")) {
    node.textContent = age(node.dataset.ago);
    if (!node.title) node.title = new Date(Number(node.dataset.ago)).toLocaleString();
  }
}

setInterval(tick, 30_000);
onPage(tick);
