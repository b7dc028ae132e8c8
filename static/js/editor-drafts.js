// Text of files that is not saved yet, kept in the browser: it is there again after a reload, and after a browser that
// was killed. `{base, seen, text, ending}` by project and path; `base` is what it was made of.
const name = (path) => `${document.body.dataset.project}:${path}`;
let opened = null;

function store() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open("opencode-web-files", 1);
    request.onupgradeneeded = () => request.result.createObjectStore("drafts");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

async function ask(mode, act) {
  const database = await store();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction("drafts", mode, { durability: "strict" });
    const request = act(transaction.objectStore("drafts"));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onabort = () => reject(transaction.error);
  });
}

// Whether it is kept: a browser without room says no.
const tried = (asked) => asked.then(() => true, () => false);

// What is written in the last moment of a page has no time to get there.
const LAST = "draft-of-file:";

export const drafts = {
  async get(path) {
    const last = localStorage.getItem(LAST + name(path));
    if (last) return JSON.parse(last);
    return ask("readonly", (drafts) => drafts.get(name(path))).catch(() => undefined);
  },
  async put(path, draft) {
    const kept = await tried(ask("readwrite", (drafts) => drafts.put(draft, name(path))));
    if (kept) localStorage.removeItem(LAST + name(path));
    return kept;
  },
  drop(path) {
    localStorage.removeItem(LAST + name(path));
    return tried(ask("readwrite", (drafts) => drafts.delete(name(path))));
  },
  // At once, as far as there is room.
  hold(path, draft) {
    try {
      localStorage.setItem(LAST + name(path), JSON.stringify(draft));
    } catch {
      this.put(path, draft);
    }
  },
};
