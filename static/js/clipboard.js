// The copy button of a code block.

async function copy(button) {
  const text = button.closest(".code").querySelector("pre").textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest(".code .copy");
  if (button) copy(button);
});
