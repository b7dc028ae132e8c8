// How the page looks: chosen on the settings page, kept by this browser, put on each page before it is drawn (early.js).
import { root } from "./root.js";

const SIZES = ["micro", "tiny", "small", "control", "body", "field", "head", "large", "title", "huge"];
const SPACES = ["1", "15", "2", "25", "3", "35", "4", "5", "6", "7", "8", "9", "10", "11", "12", "16"];
const YEAR = 60 * 60 * 24 * 365;
const element = document.documentElement;

const kept = () => JSON.parse(localStorage.getItem("looks") ?? "{}");
const themes = new Map(); // name -> what the server says of it

async function theme(name) {
  if (!name) return { scheme: "", properties: {} };
  if (!themes.has(name)) {
    const what = name.startsWith("file?") ? name : `theme?name=${encodeURIComponent(name)}`;
    const answer = await fetch(`${root}/settings/looks/${what}`);
    if (!answer.ok) throw new Error(`There is no theme ${name}.`);
    themes.set(name, await answer.json());
  }
  return themes.get(name);
}

// Of tokens in pixels that many times as much.
function scaled(before, names, factor) {
  if (!factor) return {};
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(
    names.map((name) => {
      element.style.removeProperty(`--${before}-${name}`);
      return [`--${before}-${name}`, `${Math.round(parseFloat(style.getPropertyValue(`--${before}-${name}`)) * factor * 10) / 10}px`];
    }),
  );
}

async function made(chosen) {
  const { scheme, properties } = await theme(chosen.theme);
  const mono = chosen.mono?.replace(/["\\;{}]/g, "").trim();
  return {
    ...chosen,
    scheme,
    from: early(),
    properties: {
      ...properties,
      ...scaled("text", SIZES, Number(chosen.size)),
      ...scaled("space", SPACES, Number(chosen.density)),
      ...(chosen.width && { "--column": chosen.width }),
      ...(mono && { "--mono": `"${mono}", "Geist Mono", ui-monospace, monospace` }),
    },
  };
}

// Another version of the program has other colours.
const early = () => document.querySelector("script[src*='/early.js']")?.src ?? "";

const show = (looks) => document.dispatchEvent(new CustomEvent("looks:show", { detail: looks }));

// What is chosen later counts, though the theme of what was chosen before comes after it.
let newest = null;
async function keep(chosen) {
  newest = chosen;
  try {
    const looks = await made(chosen);
    if (newest !== chosen) return;
    localStorage.setItem("looks", JSON.stringify(looks));
    show(looks);
  } finally {
    if (newest === chosen) newest = null;
  }
}

export async function renew() {
  const now = kept();
  if (now.from !== early()) await keep(now).catch(() => {});
}

// The server has to know the language, so a cookie keeps it. Empty: as the browser asks.
function speak(code) {
  document.cookie = `language=${code}; Path=${root}/; Max-Age=${code ? YEAR : 0}; SameSite=Lax`;
  location.reload();
}

// The form of the settings page.
function choose(form) {
  const { theme = "" } = newest ?? kept();
  for (const field of form.querySelectorAll("[name=theme]")) field.checked = field.value === theme;
}

function fill(form) {
  const now = kept();
  choose(form);
  for (const field of form.elements) {
    if (field.type === "radio") continue;
    if (field.type === "checkbox") field.checked = now[field.name] === field.value;
    else if (field.name) field.value = now[field.name] ?? "";
  }
}

function wire(form) {
  fill(form);
  form.addEventListener("change", ({ target }) => {
    if (target.id === "looks-language") speak(target.value);
    else keep(Object.fromEntries(new FormData(form)));
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  const themesOf = form.querySelector(".looks-themes");
  let shown = "";
  async function look(name) {
    shown = name;
    // What is chosen while the theme is on its way is seen with it.
    const pointed = () => made({ ...Object.fromEntries(new FormData(form)), theme: name });
    const looks = name === undefined ? kept() : await theme(name).then(pointed).catch(kept);
    if (shown === name) show(looks);
  }
  themesOf.addEventListener("pointerover", ({ target }) => {
    const label = target.closest("label");
    if (label) look(label.querySelector("input").value);
  });
  themesOf.addEventListener("pointerleave", () => look(undefined));
}

export function begin() {
  const form = document.getElementById("looks");
  if (!form) return;
  if (form.dataset.wired) return choose(form); // of files, which come later
  form.dataset.wired = "yes";
  wire(form);
}
