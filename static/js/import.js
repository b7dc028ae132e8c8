// What the page of an import loads, and its two buttons for all projects or none.
import "./dialog.js";
import { root } from "./root.js";
import "./toast.js";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-check]");
  if (!button) return;
  for (const box of button.form.querySelectorAll("input[name=project]")) box.checked = button.dataset.check === "all";
});

// An import that has begun takes the place of the choice; a refusal stays beside the button.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, requestConfig } = event.detail;
  if (requestConfig.path === `${root}/import/begin` && xhr.status === 200) event.detail.target = document.getElementById("import");
});
