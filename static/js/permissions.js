// Words half written in a question survive when the list of questions is renewed.

const states = document.getElementById("states");
const words = new Map();

states?.addEventListener("input", (event) => {
  if (event.target.matches("#permissions [data-keep]")) words.set(event.target.id, event.target.value);
});

function restore() {
  for (const field of states.querySelectorAll("#permissions [data-keep]")) {
    if (!field.value && words.has(field.id)) field.value = words.get(field.id);
  }
}

if (states) new MutationObserver(restore).observe(states, { childList: true, subtree: true });
