// Times that run: `data-until` counts down to a moment, `data-since` up from one (milliseconds).

function seconds(milliseconds) {
  return `${Math.max(0, Math.round(milliseconds / 1000))} s`;
}

function tick() {
  const now = Date.now();
  for (const node of document.querySelectorAll("[data-until]")) node.textContent = seconds(node.dataset.until - now);
  for (const node of document.querySelectorAll("[data-since]")) {
    if (now - node.dataset.since > 1000) node.textContent = seconds(now - node.dataset.since);
  }
}

setInterval(tick, 1000);
document.addEventListener("page:changed", tick);
tick();
