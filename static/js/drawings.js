// Formulas, diagrams and apps in the page are shown; what does it is loaded with the first.
import { onPage } from "./page.js";

const KINDS = { ".formula": () => import("./formulas.js"), ".diagram": () => import("./diagrams.js"), ".mcp-app": () => import("./apps.js") };
const drawing = new Map(); // kind -> its `draw(within)`, nothing while that is on its way

async function load(kind) {
  drawing.set(kind, null);
  const found = await KINDS[kind]().catch(() => drawing.delete(kind)); // the server was away: with the next change
  if (!found?.draw) return;
  drawing.set(kind, found.draw);
  found.draw(document);
}

function look(within) {
  for (const kind of Object.keys(KINDS)) {
    if (drawing.has(kind)) drawing.get(kind)?.(within);
    else if (within.querySelector(kind)) load(kind);
  }
}

document.addEventListener("page:arrives", ({ detail }) => look(detail));
for (const name of ["page:changed", "page:replaced", "htmx:afterSwap"]) document.addEventListener(name, () => look(document));
onPage(() => look(document));
