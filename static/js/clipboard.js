// The copy buttons of code blocks and of answers.
import { gettext } from "./words.js";

async function copy(button) {
  const text = button.closest(".code").querySelector("pre").textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = gettext("Copied");
  } catch {
    button.textContent = gettext("Not allowed");
  }
  setTimeout(() => (button.textContent = gettext("Copy")), 1500);
}

// A text that the page does not have. Throws where the browser, or the server, does not give it.
export async function copyFrom(address) {
  const load = async () => {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(answer.statusText);
    return new Blob([await answer.text()], { type: "text/plain" });
  };
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": load() })]);
}

// As the model wrote it.
async function copyAnswer(button) {
  const said = button.closest(".deeds").querySelector("[role=status]");
  try {
    await copyFrom(button.dataset.copyAnswer);
    said.textContent = gettext("Copied");
  } catch {
    said.textContent = gettext("Not allowed");
  }
  setTimeout(() => (said.textContent = ""), 1500);
}

document.addEventListener("click", (event) => {
  const answer = event.target.closest("[data-copy-answer]");
  if (answer) copyAnswer(answer);
  const button = event.target.closest(".code .copy");
  if (button) copy(button);
});
