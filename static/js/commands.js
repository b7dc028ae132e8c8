// What a `/command` does; the list itself is the server's (sessions/pages/complete.py).

const COMMANDS = {
  new: () => document.querySelector("[data-new]").click(),
  undo: () => [...document.querySelectorAll(".message.user:not(.reverted) .undo")].at(-1)?.click(),
  redo: () => document.querySelector("[data-redo]")?.click(),
  rename: () => document.querySelector(".session-item [aria-current]")?.parentElement.querySelector("[data-rename]").click(),
  stop: () => document.getElementById("stop")?.click(),
  review: () => document.querySelector("[data-toggle=review]")?.click(),
  help: () => document.getElementById("help").showModal(),
};

export function run(name) {
  COMMANDS[name]?.();
}
