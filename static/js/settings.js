// What the settings page loads.
import "./time.js";
import "./toast.js";

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-programs-ask]");
  if (!button) return;
  localStorage.removeItem("open-in");
  button.textContent = "It is asked again";
});
