// The panel over the conversation (full review), and the links that open it at a turn or a call.
import { onPage } from "./page.js";
import { keepSight } from "./review-place.js";
import { chooseScope, panel } from "./review-state.js";

const layout = document.getElementById("layout");
const small = matchMedia("(max-width: 760px)");

export function isWide() {
  return layout.hasAttribute("data-wide");
}

export function widen(on) {
  if (on && small.matches) return;
  const restore = keepSight();
  layout.toggleAttribute("data-wide", on);
  const address = new URL(location.href);
  if (on) address.searchParams.set("wide", "1");
  else address.searchParams.delete("wide");
  history.replaceState(history.state, "", address);
  if (on) panel.dispatchEvent(new CustomEvent("review:show", { bubbles: true }));
  mark();
  restore();
}

function mark() {
  const button = panel.querySelector("[data-widen]");
  button?.setAttribute("aria-pressed", String(isWide()));
}

panel.addEventListener("click", (event) => {
  if (event.target.closest("[data-widen]")) widen(!isWide());
  if (event.target.closest("[data-close-drawers]")) widen(false);
});
panel.addEventListener("review:renewed", mark);
small.addEventListener("change", () => small.matches && isWide() && widen(false));

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !isWide() || document.querySelector("dialog[open], :popover-open")) return;
  event.preventDefault();
  widen(false);
  if (!panel.contains(document.activeElement)) panel.querySelector("[data-widen]")?.focus();
});

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-review-scope]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const { reviewScope: scope, message, part } = link.dataset;
  open({ scope, message, part });
});

// A changed file named in the conversation; layout.js opens it where the chosen scope has it.
document.addEventListener("click", async (event) => {
  const path = event.target.closest("[data-review-file]")?.dataset.reviewFile;
  const find = () => panel.querySelector(`[data-file="${CSS.escape(path)}"]`);
  if (path === undefined || find()) return;
  await chooseScope("session");
  find()?.dispatchEvent(new CustomEvent("review:open", { bubbles: true }));
  find()?.scrollIntoView({ block: "start" });
});

// Other parts of the page open the panel by `review:choose` with {scope, message, part, stop}.
async function open({ scope, message, part, stop }) {
  panel.dispatchEvent(new CustomEvent("review:show", { bubbles: true }));
  await chooseScope(scope, message, part, stop);
  panel.scrollTop = 0;
  (panel.querySelector("#tour-title") ?? panel.querySelector("#review-scope"))?.focus({ preventScroll: true });
}
panel.addEventListener("review:choose", ({ detail }) => open(detail));

onPage(() => {
  const query = new URLSearchParams(location.search);
  if (panel.hidden) return;
  if (query.get("wide")) widen(true);
  else if (query.get("scope")) panel.dispatchEvent(new CustomEvent("review:show", { bubbles: true }));
});
