// A `<dialog>` that arrives in #dialog opens as a modal one; [data-close] closes it.

const box = document.getElementById("dialog");

new MutationObserver(() => {
  const dialog = box.querySelector("dialog:not([data-shown])");
  if (!dialog) return;
  dialog.dataset.shown = "";
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}).observe(box, { childList: true });

document.addEventListener("click", (event) => {
  const dialog = event.target.closest("dialog");
  if (dialog && (event.target === dialog || event.target.closest("[data-close]"))) dialog.close();
});
