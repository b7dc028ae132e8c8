// What a session page loads: one file a behaviour.
import "./clipboard.js";
import "./commands.js";
import "./complete.js";
import "./composer.js";
import "./countdown.js";
import "./dialog.js";
import "./layout.js";
import "./menu.js";
import "./scroll.js";
import "./socket.js";
import "./time.js";
import "./toast.js";
