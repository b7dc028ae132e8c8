// What the chooser of projects loads.
import "./time.js";
import "./toast.js";
