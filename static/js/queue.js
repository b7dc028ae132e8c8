// When a waiting prompt is withdrawn, the focus goes to the one next to it, or to the composer.

let row = null;
let next = "";

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-withdraw]");
  if (!button) return;
  row = button.closest("li");
  const near = row.nextElementSibling ?? row.previousElementSibling;
  next = near?.querySelector("[data-withdraw]").id ?? "prompt";
});

document.addEventListener("page:changed", () => {
  if (!row || document.getElementById(row.id)) return;
  row = null;
  if (document.activeElement === document.body) document.getElementById(next)?.focus();
});
