// The search over conversations: what its page loads, and the filters that a press puts into the field.
import "./time.js";
import "./toast.js";

const field = document.getElementById("search");

// What is begun gives way; a filter with its value is followed by the next word.
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-complete]");
  if (!button) return;
  const word = button.dataset.complete;
  const begun = field.value.match(/(?:[a-z]+:)?(?:"[^"]*|\S*)$/i)[0];
  const isBegun = begun && word.toLowerCase().startsWith(begun.split(":")[0].toLowerCase());
  const before = isBegun ? field.value.slice(0, field.value.length - begun.length) : `${field.value.trimEnd()} `.trimStart();
  field.value = before + word + (word.endsWith(":") ? "" : " ");
  field.focus();
  field.dispatchEvent(new Event("input", { bubbles: true }));
});
