// Times that run: `data-until` counts down to a moment, `data-since` up from one (milliseconds).
import { onPage } from "./page.js";

function seconds(milliseconds) {
  return `${Math.max(0, Math.round(milliseconds / 1000))} s`;
}

function tick(root = document) {
  const now = Date.now();
  for (const node of root.querySelectorAll("[data-until]")) node.textContent = seconds(node.dataset.until - now);
  for (const node of root.querySelectorAll("[data-since]")) {
    if (now - node.dataset.since > 1000) node.textContent = seconds(now - node.dataset.since);
  }
}

setInterval(tick, 1000);
document.addEventListener("page:arrives", ({ detail }) => tick(detail));
onPage(() => tick());
