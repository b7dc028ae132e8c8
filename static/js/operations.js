// The operations log: what its page loads, and its newest entries as they come.
import "./dialog.js";
import { root } from "./root.js";
import "./time.js";
import "./toast.js";
import "./undo.js";

const TELLS = new Set(["file.edited", "session.diff", "session.updated"]);
const GATHERED = 250;
const log = document.getElementById("log");
let due = 0;
let missed = false;

// Entries that were scrolled to would go: then the news wait until the person is back at the top.
function renew() {
  due = 0;
  missed = window.scrollY > 200;
  if (!missed) window.htmx.trigger(log, "log:news");
}

function news({ data }) {
  if (!TELLS.has(JSON.parse(data).type) || due) return;
  due = setTimeout(renew, GATHERED);
}

const query = new URLSearchParams({ directory: document.body.dataset.worktree });
const events = new EventSource(`${root}/event?${query}`);
events.onmessage = news;
events.onopen = () => { log.dataset.live = ""; };
events.onerror = () => delete log.dataset.live;
window.addEventListener("scroll", () => missed && renew());
window.addEventListener("pagehide", () => events.close());
