// What the chooser of projects loads.
import "./dialog.js";
import "./time.js";
import "./toast.js";
