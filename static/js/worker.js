// What an installed page has when the server cannot be reached: a page that says so, and what draws it. Nothing else is kept, and
// nothing else is answered here (docs/decisions/0063-offline.md).
const page = new URL("offline", self.registration.scope).href;
const files = ["css/tokens.css", "css/base.css", "css/layout.css", "js/early.js", "js/offline.js", "icon.svg"];
const urls = files.map((name) => new URL(`../${name}`, self.location).href);
const name = `offline ${self.location.pathname}`; // has the version of the program

async function keep(cache, url) {
  const answer = await fetch(url, { redirect: "error" }); // not the page to sign in
  if (!answer.ok) throw new Error(url);
  await cache.put(url, answer);
}

async function install() {
  const cache = await caches.open(name);
  await Promise.all([page, ...urls].map((url) => keep(cache, url)));
  await self.skipWaiting();
}

async function activate() {
  const others = (await caches.keys()).filter((other) => other.startsWith("offline ") && other !== name);
  await Promise.all(others.map((other) => caches.delete(other)));
  await self.clients.claim();
}

const kept = async (url) => (await caches.open(name)).match(url);

addEventListener("install", (event) => event.waitUntil(install()));
addEventListener("activate", (event) => event.waitUntil(activate()));
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => kept(page)));
  else if (urls.includes(request.url)) event.respondWith(kept(request.url).then((found) => found ?? fetch(request)));
});
