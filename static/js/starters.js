// A prompt to try goes into the composer, to be changed or sent.

const prompt = document.getElementById("prompt");

document.addEventListener("click", (event) => {
  const text = event.target.closest("[data-starter]")?.dataset.starter.replace(/\s+/g, " ");
  if (!text || !prompt) return;
  prompt.focus();
  prompt.value = text;
  prompt.dispatchEvent(new InputEvent("input", { bubbles: true }));
  prompt.setSelectionRange(text.length, text.length);
});
