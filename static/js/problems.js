// How many problems there are, said as they come and go. Their panel opens by a button, by keys or /problems.
import { onPage } from "./page.js";
import "./problem-marks.js";
import { shortcut } from "./shortcuts.js";
import { gettext, interpolate } from "./words.js";

const box = document.getElementById("problems");
const live = document.getElementById("problems-live");
const panel = () => import("./problems-panel.js");
let known = null;

function counted() {
  const words = document.getElementById("problems-button")?.dataset.words ?? "";
  if (known !== null && words !== known) live.textContent = words ? interpolate(gettext("Problems: %(words)s"), { words }) : gettext("Problems: none");
  known = words;
  if (words) panel();
  if (box.matches(":popover-open")) load();
}

const load = async () => (await panel()).load();
onPage(() => {
  known = null;
  live.textContent = "";
});
document.addEventListener("htmx:afterSwap", ({ detail }) => detail.target.id === "problems-slot" && counted());
box.addEventListener("toggle", ({ newState }) => newState === "open" && load());
shortcut("problems", async () => (await panel()).open());
