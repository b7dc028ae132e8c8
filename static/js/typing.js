// What only somebody needs who writes is loaded with the first letter, and the estimate with what is long or attached.
import { attachments } from "./attachments.js";
import { field } from "./composer.js";
import { onPage } from "./page.js";

export const LONG = 4_000; // characters

function look() {
  if (field.value.length >= LONG || attachments.any()) import("./estimate.js");
}

field.addEventListener("input", () => import("./complete.js"), { once: true });
for (const name of ["draft:written", "draft:attached"]) document.addEventListener(name, look);
onPage(look);
