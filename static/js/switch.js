// Going from session to session of a project without loading the document again: by links, by answers that lead
// to another page, and back and forward. Where that does not work, the browser loads the page as ever.
import { isAlike, turn } from "./page.js";
import { root } from "./root.js";
import { sending } from "./sending.js";

const main = document.getElementById("main");
const near = new RegExp(`^${root}/p/${document.body.dataset.project}/(s/\\w*)?$`);
let shown = location.pathname;
let going = null;

const isNear = (url) => url.origin === location.origin && near.test(url.pathname) && url.pathname !== shown;

// The document of a page and its address, where that is one that can take the place of this; else it throws.
async function load(url, signal) {
  const answer = await fetch(url, { signal });
  const address = new URL(answer.url);
  address.hash = url.hash;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!answer.ok || !isNear(address) || !isAlike(fresh)) throw new Error(`No page like this one: ${address}`);
  return { fresh, address };
}

// Whoever goes elsewhere meanwhile goes there.
async function go(url, back = false) {
  going?.abort();
  const mine = (going = new AbortController());
  main.setAttribute("aria-busy", "true");
  const [page] = await Promise.all([load(url, mine.signal).catch(() => null), sending.pause()]);
  if (mine !== going) return;
  settle();
  if (page) show(page, back);
  else if (back) location.reload();
  else location.assign(url);
}

function settle() {
  going = null;
  main.removeAttribute("aria-busy");
}

function show({ fresh, address }, back) {
  if (!back) history.pushState(null, "", address);
  shown = location.pathname;
  const { q, archived } = document.querySelector("#sidebar .filter").elements;
  const filtered = q.value || archived.checked;
  const list = document.getElementById("session-list");
  if (filtered) fresh.getElementById("session-list").replaceChildren(...[...list.children].map((child) => child.cloneNode(true)));
  turn(fresh);
  if (filtered) window.htmx.trigger(list, "list:renew");
  document.getElementById("turn-news").textContent = document.getElementById("title").textContent;
}

// Stays where the page is, after all.
function stay() {
  going.abort();
  settle();
  sending.resume();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || link.target || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const url = new URL(link.href);
  if (!isNear(url)) return;
  event.preventDefault();
  go(url);
});

// An address within the page (`#msg_…`) changes without it.
window.addEventListener("popstate", () => {
  if (location.pathname !== shown) go(new URL(location.href), true);
  else if (going) stay();
});

// Where htmx goes when an answer leads elsewhere.
window.htmx.location = {
  reload: () => location.reload(),
  set href(address) {
    const url = new URL(address, location.href);
    if (isNear(url)) go(url);
    else location.assign(url);
  },
};
