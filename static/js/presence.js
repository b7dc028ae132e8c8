// Others who look at this session see that somebody writes: the page tells it now and then while they do.
import { field } from "./composer.js";
import { base, onPage, thisPage } from "./page.js";

const AGAIN = 3_000; // milliseconds; the server forgets it after six seconds
let told = 0;

async function tell(writes) {
  const here = thisPage();
  const headers = JSON.parse(document.body.getAttribute("hx-headers"));
  await fetch(`${base()}/writes`, { method: "POST", headers, body: new URLSearchParams({ on: writes ? "1" : "0" }) }).catch(() => here() && (told = 0));
}

field.addEventListener("input", () => {
  const writes = field.value !== "";
  if (!document.body.dataset.session || (writes ? Date.now() - told < AGAIN : !told)) return;
  told = writes ? Date.now() : 0;
  tell(writes);
});

onPage(() => {
  told = 0;
});
