// Rows that the browser keeps on the disk, by a key: they are there again after a reload, and after a browser that was
// killed. A database has one kind of them.
export function rows(database, kind) {
  let opened = null;

  function open() {
    opened ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(database, 1);
      request.onupgradeneeded = () => request.result.createObjectStore(kind);
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    return opened;
  }

  async function ask(mode, act) {
    const transaction = (await open()).transaction(kind, mode, { durability: "strict" });
    return new Promise((resolve, reject) => {
      const request = act(transaction.objectStore(kind));
      transaction.oncomplete = () => resolve(request.result);
      transaction.onabort = () => reject(transaction.error);
    });
  }

  // Whether it is done: a browser without room says no.
  const tried = (asked) => asked.then(() => true, () => false);

  return {
    // Undefined where there is none.
    get: (key) => ask("readonly", (store) => store.get(key)).catch(() => undefined),
    put: (key, row) => tried(ask("readwrite", (store) => store.put(row, key))),
    drop: (key) => tried(ask("readwrite", (store) => store.delete(key))),
  };
}
