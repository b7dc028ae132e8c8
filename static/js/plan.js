// The agent picker follows the session when the agent changes by itself: an approved plan goes on with build.

let agent = current();

function current() {
  return document.getElementById("plan-badge")?.dataset.agent;
}

function follow() {
  const now = current();
  if (!now || now === agent) return;
  agent = now;
  const picker = document.getElementById("agent-picker");
  if (picker && [...picker.options].some((option) => option.value === now)) picker.value = now;
}

for (const event of ["page:changed", "page:replaced"]) document.addEventListener(event, follow);
