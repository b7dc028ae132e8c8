// The dialogs of an export: which file, and with or without secrets.

document.addEventListener("submit", (event) => {
  if (event.target.matches("form[data-export-several]")) return event.target.closest("dialog").close();
  const form = event.target.closest("form[data-export]");
  if (!form) return;
  event.preventDefault();
  const given = new FormData(form);
  const link = document.createElement("a");
  const query = given.get("redact") ? "?redact=1" : "";
  link.href = form.action.replace(/[^.]+$/, given.get("form")) + query;
  link.download = "";
  link.click();
  form.closest("dialog").close();
});
