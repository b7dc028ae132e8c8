// The review panel: its view is remembered, files stay as the person left them, n and p go from file to file.

const VIEW = "review:view";
const panel = document.getElementById("review");
const narrow = matchMedia("(max-width: 600px)");
const chosen = new Map();
let scrolled = 0;
let focused = "";

function view() {
  return narrow.matches ? "unified" : localStorage.getItem(VIEW) || "unified";
}

document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (detail.target === panel && !detail.parameters.view) detail.parameters.view = view();
});

panel?.addEventListener("change", (event) => {
  if (event.target.name === "view") localStorage.setItem(VIEW, event.target.value);
  if (event.target.name === "scope") panel.querySelector("#review-form [name=message]")?.remove();
}, { capture: true });

panel?.addEventListener("click", (event) => {
  const summary = event.target.closest(".file > summary");
  if (summary) chosen.set(summary.parentElement.dataset.file, !summary.parentElement.open);
});

panel?.addEventListener("review:open", (event) => {
  event.target.open = true;
  chosen.set(event.target.dataset.file, true);
});

// How to find the focused element again once the panel was renewed.
function selectorOf(element) {
  if (!panel.contains(element)) return "";
  if (element.name) return `#review-form [name="${element.name}"][value="${element.value}"]`;
  const file = element.closest(".file");
  return file ? `.file[data-file="${CSS.escape(file.dataset.file)}"] > summary` : "";
}

document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target !== panel) return;
  scrolled = panel.scrollTop;
  focused = selectorOf(document.activeElement);
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target !== panel) return;
  for (const file of panel.querySelectorAll(".file")) {
    if (chosen.has(file.dataset.file)) file.open = chosen.get(file.dataset.file);
  }
  const head = panel.querySelector(".review-head");
  if (head) panel.style.setProperty("--review-head", `${head.offsetHeight}px`);
  panel.scrollTop = scrolled;
  if (focused) panel.querySelector(focused)?.focus({ preventScroll: true });
});

function step(by) {
  const files = [...panel.querySelectorAll(".file > summary")];
  const at = files.indexOf(document.activeElement.closest(".file")?.firstElementChild);
  const next = files[at < 0 ? 0 : at + by];
  next?.focus({ preventScroll: true });
  next?.parentElement.scrollIntoView({ block: "nearest" });
}

panel?.addEventListener("keydown", (event) => {
  const by = { n: 1, p: -1 }[event.key];
  if (!by || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=radio])")) return;
  event.preventDefault();
  step(by);
});
