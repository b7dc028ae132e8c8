// What a person opened before htmx had wired it is loaded all the same: between the two lie some ten milliseconds, and
// more while a page loads.
document.addEventListener("htmx:afterProcessNode", ({ target }) => {
  if (!target.matches?.("[hx-trigger*=toggle]")) return;
  const details = target.closest("details");
  if (details?.open) window.htmx.trigger(target.matches("[hx-trigger*='from:']") ? details : target, "toggle");
});
