// The folders beside the project: their dialog, or with a path one that is added at once. Loaded when it is opened first.
import { renew } from "./choice.js";
import { root } from "./root.js";

export async function open(place, path = "") {
  if (path) {
    const values = { ...place, path };
    await window.htmx.ajax("POST", `${root}/pickers/folders/add`, { target: "#toasts", swap: "beforeend", values });
    return renew();
  }
  await window.htmx.ajax("GET", `${root}/pickers/folders`, { target: "#dialog", swap: "innerHTML", values: place });
  const dialog = document.querySelector(".folders-dialog");
  dialog.addEventListener("htmx:afterRequest", ({ detail: { successful } }) => {
    renew();
    if (!successful) return;
    dialog.querySelector(".folders-form").reset();
    dialog.querySelector("[name=path]").focus();
  });
  dialog.addEventListener("htmx:beforeRequest", () => dialog.querySelector("#folders-problem").replaceChildren());
}
