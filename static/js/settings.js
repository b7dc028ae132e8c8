// What the settings page loads.
import "./dialog.js";
import { begin as looks } from "./looks.js";
import { allowed, choose, chosen } from "./notify.js";
import "./time.js";
import "./toast.js";
import { gettext, interpolate, ngettext } from "./words.js";

document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-programs-ask]");
  if (!button) return;
  localStorage.removeItem("open-in");
  button.textContent = gettext("It is asked again");
});

// What is looked for is shown, with the sections that have any of it.
const find = document.getElementById("settings-find");
const main = document.querySelector(".settings-page");

function filter() {
  const wanted = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (element) => wanted.every((word) => (element.dataset.words ?? element.textContent.toLowerCase()).includes(word));
  let found = 0;
  for (const one of main.querySelectorAll(".setting, .settings-links > li")) {
    one.hidden = !has(one);
    found += one.hidden ? 0 : 1;
  }
  for (const section of main.querySelectorAll("section")) {
    const listed = [...section.querySelectorAll(".setting, .settings-links > li")];
    section.hidden = listed.length ? !listed.some((one) => !one.hidden) : !has(section);
    found += section.hidden || listed.length ? 0 : 1;
  }
  document.getElementById("settings-nothing").hidden = found > 0;
  document.getElementById("settings-found").textContent = wanted.length ? interpolate(ngettext("%(count)s found", "%(count)s found", found), { count: found }) : "";
}

find?.addEventListener("input", filter);
if (find) document.addEventListener("htmx:afterSettle", filter);
document.addEventListener("htmx:afterSettle", looks);

document.addEventListener("click", ({ target }) => {
  const draft = target.closest("[data-forget-draft]")?.closest(".setting-draft");
  if (!draft) return;
  const form = draft.closest(".setting")?.querySelector("form") ?? draft.previousElementSibling; // of a copy
  draft.replaceChildren();
  form.reset();
  form.querySelector("[name^=value], [name=name]").focus();
});

// Which notifications come.
const notices = document.getElementById("notices");
const problem = document.getElementById("notices-problem");
if (notices) for (const field of notices.elements) field.checked = (allowed() || field.name === "sound") && Boolean(chosen()[field.name]);

notices?.addEventListener("change", async ({ target }) => {
  problem.textContent = "";
  if (target.name !== "sound" && !allowed() && (await window.Notification?.requestPermission()) !== "granted") {
    target.checked = false;
    problem.textContent = gettext("This browser does not allow notifications of this address.");
    return;
  }
  choose(Object.fromEntries([...notices.elements].filter(({ checked }) => checked).map(({ name }) => [name, true])));
  if (target.name === "sound" && target.checked) (await import("./told.js")).sound();
});
