// The project's own web server beside the conversation. What is in the frame here is a page of ours (preview-page.js), which has the
// foreign one in a frame of its own: only what a person took over there comes to the prompt. Loaded when it is first opened.
import { add, field } from "./composer.js";
import { base, onPage } from "./page.js";
import { addSheet } from "./sheet.js";
import { note } from "./toast.js";
import { gettext } from "./words.js";

const box = document.createElement("aside");
Object.assign(box, { id: "preview", className: "preview", popover: "manual" });
box.setAttribute("aria-label", gettext("Preview"));
document.body.append(box);

let frame = null;
const isOpen = () => box.matches(":popover-open");

export async function toggle() {
  if (isOpen()) return close();
  if (!document.body.dataset.session) return note(gettext("There is no session yet."));
  await addSheet("preview");
  frame = Object.assign(document.createElement("iframe"), { title: gettext("Preview"), src: `${base()}/preview` });
  box.replaceChildren(frame);
  box.showPopover();
  document.documentElement.classList.add("previews");
  frame.addEventListener("load", () => frame?.contentDocument?.querySelector("button:not([hidden]), a")?.focus(), { once: true });
}

function close() {
  document.documentElement.classList.remove("previews");
  box.hidePopover();
  box.replaceChildren(); // what is shown there ends
  frame = null;
  field.focus();
}

addEventListener("message", ({ source, origin, data }) => {
  if (!frame || source !== frame.contentWindow || origin !== location.origin) return;
  if (data?.preview === "close") close();
  if (data?.preview !== "take") return;
  add(data.text);
  if (data.picture instanceof Blob) attach(new File([data.picture], "element.png", { type: "image/png" }));
});

// As if it were chosen.
function attach(file) {
  const chosen = new DataTransfer();
  chosen.items.add(file);
  const input = document.getElementById("attach");
  input.files = chosen.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

onPage(() => () => isOpen() && close());
