// What the settings page loads.
import "./time.js";
import "./toast.js";
