// What only somebody needs who writes is loaded with the first letter.
import { field } from "./composer.js";

field.addEventListener("input", () => import("./complete.js"), { once: true });
