// The edges of the list and of the panel of changes: moved by pointer and arrow keys; a button folds the list. What
// the person chose for this project, and which files are open, is laid out before the first paint: therefore a classic
// script in the head, no module.
{
  const root = document.documentElement;
  const EDGES = {
    sidebar: { least: 200, share: 0.35, grows: 1 },
    review: { least: 320, share: 0.65, grows: -1 },
  };
  const STEP = 16;
  const FOLDED = "list-folded";
  const [, , project, , session] = location.pathname.slice(root.dataset.root.length).split("/"); // /p/…/s/…
  const KEPT = `layout:${project}`;

  // By name. A project that has none yet begins as the last one was left.
  function kept() {
    try {
      return JSON.parse(localStorage.getItem(KEPT) ?? localStorage.getItem("layout")) ?? {};
    } catch {
      return {};
    }
  }
  function keep(layout) {
    for (const key of [KEPT, "layout"]) localStorage.setItem(key, JSON.stringify(layout));
  }
  window.laidOut = {
    get: (name) => kept()[name],
    set: (name, value) => keep({ ...kept(), [name]: value || undefined }),
    reset() {
      keep({});
      apply();
      document.dispatchEvent(new CustomEvent("layout:reset"));
    },
  };
  const stored = (name) => window.laidOut.get(`${name}-width`);
  const most = (name) => Math.round(innerWidth * EDGES[name].share);
  const PANELS = { sidebar: "sidebar", review: "beside" };
  const width = (name) => Math.round(document.getElementById(PANELS[name]).getBoundingClientRect().width);

  function lay(name, pixels) {
    const value = pixels ? `clamp(${EDGES[name].least}px, ${pixels}px, ${EDGES[name].share * 100}vw)` : "";
    root.style.setProperty(`--${name}-width`, value);
  }

  function say(edge) {
    const name = edge.dataset.edge;
    const values = { valuemin: EDGES[name].least, valuemax: most(name), valuenow: width(name) };
    for (const [key, value] of Object.entries(values)) edge.setAttribute(`aria-${key}`, value);
  }

  function choose(edge, pixels) {
    const name = edge.dataset.edge;
    window.laidOut.set(`${name}-width`, pixels && Math.round(Math.min(Math.max(pixels, EDGES[name].least), most(name))));
    lay(name, stored(name));
    say(edge);
  }

  const fold = () => window.laidOut.set(FOLDED, root.classList.toggle(FOLDED));

  function hold(edge, event) {
    const { grows } = EDGES[edge.dataset.edge];
    const begun = width(edge.dataset.edge) - grows * event.clientX;
    const listening = new AbortController();
    const { signal } = listening;
    edge.setPointerCapture(event.pointerId);
    edge.dataset.held = "";
    edge.addEventListener("pointermove", (moved) => choose(edge, begun + grows * moved.clientX), { signal });
    edge.addEventListener("lostpointercapture", () => (delete edge.dataset.held, listening.abort()), { signal });
  }

  const edgeOf = (event) => event.target.closest?.("[data-edge]");

  document.addEventListener("pointerdown", (event) => {
    const edge = edgeOf(event);
    if (edge && event.button === 0) hold(edge, event);
  });
  document.addEventListener("dblclick", (event) => edgeOf(event) && choose(edgeOf(event), 0));
  document.addEventListener("focusin", (event) => edgeOf(event) && say(edgeOf(event)));
  document.addEventListener("click", (event) => event.target.closest("[data-fold-list]") && fold());
  document.addEventListener("keydown", (event) => {
    const edge = edgeOf(event);
    const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (edge && way) choose(edge, width(edge.dataset.edge) + way * EDGES[edge.dataset.edge].grows * STEP);
    else if (edge && event.key === "Home") choose(edge, EDGES[edge.dataset.edge].least);
    else if (edge && event.key === "End") choose(edge, most(edge.dataset.edge));
    else return;
    event.preventDefault();
  });

  function apply() {
    for (const name of Object.keys(EDGES)) lay(name, stored(name));
    root.classList.toggle(FOLDED, Boolean(window.laidOut.get(FOLDED)));
    for (const side of ["files", "find"]) root.classList.toggle(`${side}-listed`, window.laidOut.get("listed") === side);
  }

  apply();
  root.classList.toggle("turns-folded", localStorage.getItem("turns-folded") === "yes");
  root.classList.toggle("strip-unfolded", localStorage.getItem(`strip:${session}`) === "yes");
  root.classList.toggle("files-opened", Boolean(localStorage.getItem(`opened:${project}`)));
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-edge]").forEach(say));
}
