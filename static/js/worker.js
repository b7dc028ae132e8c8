// What an installed page has when the server cannot be reached: a page that says so, and what draws it. Nothing else is kept, and
// nothing else is answered here (docs/decisions/0063-offline.md). And what shows what is pushed (docs/decisions/0067-notifiers.md).
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

const icon = new URL("../icon-180.png", self.location).href;

// Who looks at a page sees it there.
async function tell({ title, text, url, tag }) {
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!pages.some(({ visibilityState }) => visibilityState === "visible")) await registration.showNotification(title, { body: text, tag, icon, data: { url } });
}

async function open(url) {
  const pages = await clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = pages.find((page) => page.url === url);
  return there ? there.focus() : clients.openWindow(url);
}

addEventListener("push", (event) => event.waitUntil(tell(event.data.json())));
addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data.url));
});
