// A folder or a file of the project in a program of this machine: asked in which, until one is to be it always.
import { root } from "./root.js";

const ALWAYS = "open-in";

export function openIn({ path = "", line = "", session = document.body.dataset.session } = {}) {
  const values = { project: document.body.dataset.project, session, path, line };
  const program = localStorage.getItem(ALWAYS);
  if (program) return start({ ...values, program });
  return window.htmx.ajax("GET", `${root}/open-in?${new URLSearchParams(values)}`, { target: "#dialog", swap: "innerHTML" });
}

const start = (values) => window.htmx.ajax("POST", `${root}/open-in`, { target: "#toasts", swap: "beforeend", values });

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-program]");
  if (!button) return;
  const { program, ...values } = button.dataset;
  if (document.getElementById("open-in-always").checked) localStorage.setItem(ALWAYS, program);
  button.closest("dialog").close();
  start({ ...values, program });
});
