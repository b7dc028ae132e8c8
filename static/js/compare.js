// The dialog that tries a task several ways. Loaded when it is used.
import { context } from "./choice.js";
import { favourites } from "./favourites.js";
import { root } from "./root.js";

const box = document.getElementById("dialog");

export const open = (prompt = "") =>
  window.htmx.ajax("GET", `${root}/p/${document.body.dataset.project}/compare`, { source: box, target: box, swap: "innerHTML", values: { ...place(), prompt } });

// A new session has what is picked beside the prompt; the first attempt begins with it.
function place() {
  const { session, agent, model, variant, preset } = context();
  const picked = { ...(session ? { session } : { preset }), agent, model, variant, favourite: favourites() };
  return Object.fromEntries(Object.entries(picked).filter(([, value]) => value !== undefined));
}

// A row of the form that is not shown is not sent.
function show(row, shown) {
  row.hidden = !shown;
  row.querySelector("fieldset").disabled = !shown;
}

box.addEventListener("click", ({ target }) => {
  const form = target.closest("#compare-form");
  if (!form) return;
  if (target.closest("[data-more]")) {
    const next = form.querySelector(".compare-ways > li[hidden]");
    if (!next) return;
    show(next, true);
    next.querySelector("input").focus();
  }
  if (target.closest("[data-fewer]")) {
    show(target.closest("li"), false);
    form.querySelector("[data-more]").focus();
  }
});
