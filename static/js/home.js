// What the overview and the chooser of projects load.
import "./dialog.js";
import "./time.js";
import "./toast.js";

if (document.querySelector("main.overview")) import("./overview.js");
