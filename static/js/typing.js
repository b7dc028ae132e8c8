// What only somebody needs who writes is loaded with the first letter, and the estimate with what is long or attached; with
// the next one, where the server could not be reached.
import { attachments } from "./attachments.js";
import { field } from "./composer.js";
import { onPage } from "./page.js";

export const LONG = 4_000; // characters

const later = () => {};

function look() {
  if (field.value.length >= LONG || attachments.any()) import("./estimate.js").catch(later);
}

field.addEventListener("input", () => import("./complete.js").catch(later));
for (const name of ["draft:written", "draft:attached"]) document.addEventListener(name, look);
onPage(look);
