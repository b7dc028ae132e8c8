// A keyboard on the screen that covers the page, where the browser makes no room for it (Safari): the page is then as high as what
// is seen of it (`--covered`). Loaded where fingers point.
const seen = window.visualViewport;

function fit() {
  const enlarged = seen.scale > 1.01; // by two fingers: what is not seen then is not covered
  const covered = enlarged ? 0 : Math.max(0, Math.round(innerHeight - seen.height));
  document.documentElement.style.setProperty("--covered", `${covered}px`);
  if (covered) scrollTo(0, 0); // it moves the page up, to show the field
}

seen?.addEventListener("resize", fit);
seen?.addEventListener("scroll", fit);
