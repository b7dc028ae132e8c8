// The menu of a session, as the server has it for this one. Loaded when it is opened first.
import { copyFrom } from "./clipboard.js";
import { foldTurns } from "./fold-turns.js";
import { openMenu } from "./popup-menu.js";
import { rename } from "./session-list.js";
import { note } from "./toast.js";
import { gettext } from "./words.js";

const menu = document.getElementById("session-menu");
const list = document.getElementById("session-menu-items");
let base = ""; // the address of the session that it is about
let opener = "";

const DO = {
  git: async () => (await import("./git.js")).open(),
  focus: foldTurns,
  rename: () => (opener === "session-more" ? document.getElementById("title-button").click() : rename(document.getElementById(opener).closest(".session-item"))),
  "open-in": async () => (await import("./open-in.js")).openIn({ session: base.split("/").at(-1) }),
  select: async () => (await import("./session-choice.js")).choose(document.getElementById(opener).closest(".session-item")),
  folders: async () => (await import("./folders.js")).open({ session: base.split("/").at(-1) }),
  up: () => step(-1),
  down: () => step(1),
  link: () => navigator.clipboard.writeText(new URL(base, location.href)),
  markdown: () => copyFrom(`${base}/export.md?redact=1`),
};
const SAID = { link: gettext("Copied the link."), markdown: gettext("Copied as Markdown.") };

const step = async (by) => (await import("./session-order.js")).step(document.getElementById(opener).closest(".session-item"), by);

// `id` is that of the element which has the focus afterwards: it may be another one by then.
export async function open(address, at, id) {
  base = address;
  opener = id;
  list.replaceChildren();
  await window.htmx.ajax("GET", `${base}/menu`, { target: list, swap: "innerHTML" });
  if (base !== address || !list.firstElementChild) return;
  const isOfPage = id === "session-more";
  menu.toggleAttribute("data-of-page", isOfPage);
  list.querySelector("[data-session-do=select]")?.toggleAttribute("hidden", isOfPage);
  for (const item of list.querySelectorAll("[data-session-do=up], [data-session-do=down]")) item.toggleAttribute("hidden", isOfPage);
  for (const item of list.querySelectorAll("[data-session-do=focus], [data-session-do=git]")) item.toggleAttribute("hidden", !isOfPage);
  openMenu(menu, at, () => document.getElementById(id));
}

async function run(name) {
  try {
    await DO[name]();
    if (SAID[name]) note(SAID[name]);
  } catch {
    note(gettext("The browser does not allow it."));
  }
}

menu.addEventListener("click", ({ target }) => {
  const item = target.closest("[data-session-do]");
  if (item) run(item.dataset.sessionDo);
});
