// The review by keyboard: from hunk to hunk and file to file, verdicts on the one in sight.
import { panel } from "./review-state.js";
import { isWide } from "./review-wide.js";
import { isOpen } from "./review-merge.js";
import { shortcut } from "./shortcuts.js";

const STOPS = "[data-hunk], .later[data-heads]:not([data-heads='0']), .file-body[data-lazy]";
const LONGEST = 5000; // milliseconds that a diff may take to come

function current() {
  const focused = document.activeElement;
  if (!panel.contains(focused)) return null;
  return focused.closest("[data-hunk]") || focused.closest(".file")?.querySelector("[data-fold]") || null;
}

function step(places, by) {
  const here = current();
  if (!here) return by > 0 ? places[0] : undefined;
  const side = by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const there = places.filter((place) => place !== here && here.compareDocumentPosition(place) & side);
  return there.at(by > 0 ? 0 : -1);
}

// Diffs that are not loaded yet are loaded on the way.
async function go(by) {
  const places = [...panel.querySelectorAll(STOPS)].filter((place) => isOpen(place.closest(".file")));
  const next = step(places, by);
  if (!next) return;
  if (next.matches("[data-hunk]")) return look(next, next);
  next.scrollIntoView({ block: "center" });
  if (await replaced(next)) await go(by);
}

// In a tour its stops take the place of files.
function file(by) {
  const stop = panel.querySelector(by > 0 ? "#tour-next" : "#tour-previous");
  if (stop) return stop.click();
  const next = step([...panel.querySelectorAll("[data-fold]")], by);
  if (next) look(next, next.closest(".file"));
}

function look(element, shown) {
  element.focus({ preventScroll: true });
  shown.scrollIntoView({ block: "nearest" });
  const name = element.closest(".file").dataset.file;
  panel.querySelector("#review-live").textContent = element.matches("[data-hunk]") ? `${element.getAttribute("aria-label")}, ${name}` : name;
}

function replaced(element) {
  const gone = () => !element.isConnected || (element.matches(".file-body") && !element.hasAttribute("data-lazy"));
  return new Promise((resolve) => {
    const watch = new MutationObserver(() => gone() && end(true));
    const timer = setTimeout(() => end(false), LONGEST);
    function end(value) {
      watch.disconnect();
      clearTimeout(timer);
      resolve(value);
    }
    watch.observe(panel, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-lazy"] });
  });
}

function act(selector) {
  const here = current();
  const place = here?.matches("[data-hunk]") ? here : here?.closest(".file-head");
  place?.querySelector(selector)?.click();
}

const here = { within: (element) => panel.contains(element) || (isWide() && element === document.body) };
const presses = (selector) => () => panel.querySelector(selector)?.click();
const keys = (name, action) => shortcut(name, () => void action(), here);
keys("hunk-next", () => go(1));
keys("hunk-previous", () => go(-1));
keys("file-next", () => file(1));
keys("file-previous", () => file(-1));
keys("hunk-undo", () => act("[data-do=undo], [data-do=stage-drop]"));
keys("hunk-redo", () => act("[data-do=redo]"));
keys("hunk-keep", () => act("[data-do=keep], [data-do=unkeep], [data-do=stage-keep]"));
keys("hunk-comment", () => act("[data-comment]"));
keys("file-viewed", () => act("[data-do=viewed]"));
keys("review-wide", presses("[data-widen]"));
keys("review-split", presses("#review-form [name=view]:not(:checked)"));
keys("review-space", presses("#review-space"));
