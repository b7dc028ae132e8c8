// Review mode: "Review" opens the panel at what is staged; what was refused is said until the next try.

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-review-staged]")) return;
  const chosen = { detail: { scope: "staged" } };
  document.getElementById("review")?.dispatchEvent(new CustomEvent("review:choose", chosen));
});

document.addEventListener("htmx:beforeRequest", ({ target }) => {
  if (target.closest(".staged-do")) document.getElementById("staged-problem")?.replaceChildren();
});
