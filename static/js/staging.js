// Review mode: "Review" opens the panel at what is staged.

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-review-staged]")) return;
  const chosen = { detail: { scope: "staged" } };
  document.getElementById("review")?.dispatchEvent(new CustomEvent("review:choose", chosen));
});
