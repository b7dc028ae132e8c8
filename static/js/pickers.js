// The chosen agent's colour and description, on its picker: the style sheet and the tooltip take them from there.

function show() {
  const picker = document.getElementById("agent-picker");
  const chosen = picker?.selectedOptions[0];
  if (!chosen) return;
  picker.title = chosen.title;
  const { color } = chosen.dataset;
  picker.classList.toggle("coloured", Boolean(color));
  if (color) picker.style.setProperty("--agent", color);
  else picker.style.removeProperty("--agent");
}

for (const event of ["change", "htmx:afterSettle", "page:changed", "page:replaced"]) document.addEventListener(event, show);
