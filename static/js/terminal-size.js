// The height of the terminals, in percent of the window: by dragging the upper edge, by keys, kept by project.

const STORED = "terminal-height";
const STEP = 5;
const KEYS = { ArrowUp: STEP, ArrowDown: -STEP, Home: 100, End: -100 };

export function sizes(panel) {
  const grip = panel.querySelector(".terminal-grip");
  const least = Number(grip.getAttribute("aria-valuemin"));
  const most = Number(grip.getAttribute("aria-valuemax"));

  function lay(height) {
    panel.style.setProperty("--terminal-height", `${height}dvh`);
    grip.setAttribute("aria-valuenow", String(height));
  }

  function set(percent) {
    const height = Math.round(Math.min(most, Math.max(least, percent)));
    lay(height);
    window.laidOut.set(STORED, height);
  }

  function now() {
    return (100 * panel.offsetHeight) / innerHeight;
  }

  grip.addEventListener("keydown", (event) => {
    if (!(event.key in KEYS)) return;
    event.preventDefault();
    set(now() + KEYS[event.key]);
  });
  grip.addEventListener("pointerdown", (event) => {
    grip.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  grip.addEventListener("pointermove", (event) => {
    if (!grip.hasPointerCapture(event.pointerId)) return;
    set((100 * (panel.getBoundingClientRect().bottom - event.clientY)) / innerHeight);
  });

  const say = () => grip.setAttribute("aria-valuenow", String(Math.round(now())));
  document.addEventListener("layout:reset", () => {
    panel.style.removeProperty("--terminal-height");
    say();
  });
  const kept = window.laidOut.get(STORED);
  if (kept) lay(kept);
  else say();
}
