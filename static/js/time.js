// Ages in words, kept fresh.
import { onPage } from "./page.js";
import { gettext, interpolate } from "./words.js";

const UNITS = [
  [86_400_000, gettext("%(count)s d")],
  [3_600_000, gettext("%(count)s h")],
  [60_000, gettext("%(count)s min")],
];

function age(moment) {
  const passed = Date.now() - moment;
  const unit = UNITS.find(([length]) => passed >= length);
  return unit ? interpolate(unit[1], { count: Math.floor(passed / unit[0]) }) : gettext("now");
}

function tick() {
  for (const node of document.querySelectorAll("time[data-ago]")) {
    node.textContent = age(node.dataset.ago);
    if (!node.title) node.title = new Date(Number(node.dataset.ago)).toLocaleString(document.documentElement.lang);
  }
}

setInterval(tick, 30_000);
onPage(tick);
