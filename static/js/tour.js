// A tour of the change that the review shows: from stop to stop, and the dialog that has it made. Loaded when it is used.
import { base, chooseStop, panel } from "./review-state.js";
import { addSheet } from "./sheet.js";

const sheet = addSheet("tour");

// A `[data-tour]`: the number of a stop, 0 to leave, or nothing to have one made.
export async function press(button) {
  const stop = button.dataset.tour;
  if (!stop) return window.htmx.ajax("GET", `${base()}/tour`, { source: button, target: "#dialog", swap: "innerHTML" });
  await sheet;
  await chooseStop(stop === "0" ? "" : stop);
  panel.scrollTop = 0;
  const place = panel.querySelector("#tour-title") ?? panel.querySelector("#tour-open");
  place?.focus({ preventScroll: true });
}
