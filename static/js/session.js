// What a session page loads: one file a behaviour.
import "./agents.js";
import "./clipboard.js";
import "./commands.js";
import "./complete.js";
import "./composer.js";
import "./countdown.js";
import "./dialog.js";
import "./editing.js";
import "./layout.js";
import "./menu.js";
import "./pickers.js";
import "./queue.js";
import "./scroll.js";
import "./sending.js";
import "./socket.js";
import "./time.js";
import "./toast.js";
