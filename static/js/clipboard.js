// The copy buttons of code blocks and of answers.

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

// The text as the model wrote it, which the page does not have.
async function copyAnswer(button) {
  const said = button.closest(".deeds").querySelector("[role=status]");
  const load = async () => {
    const answer = await fetch(button.dataset.copyAnswer);
    if (!answer.ok) throw new Error(answer.statusText);
    return answer.blob();
  };
  try {
    await navigator.clipboard.write([new ClipboardItem({ "text/plain": load() })]);
    said.textContent = "Copied";
  } catch {
    said.textContent = "Not allowed";
  }
  setTimeout(() => (said.textContent = ""), 1500);
}

document.addEventListener("click", (event) => {
  const answer = event.target.closest("[data-copy-answer]");
  if (answer) copyAnswer(answer);
  const button = event.target.closest(".code .copy");
  if (button) copy(button);
});
