// The page of a comparison: what it loads. How it stands it asks by itself (templates/comparisons/state.html).
import "./dialog.js";
import "./time.js";
import "./toast.js";
