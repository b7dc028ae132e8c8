const added = new Map();

// Adds a style sheet that the page does not begin with, once; until it is there.
export function addSheet(name) {
  if (!added.has(name)) added.set(name, load(name));
  return added.get(name);
}

function load(name) {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL(`../css/${name}.css`, import.meta.url) });
  document.head.append(link);
  return new Promise((done) => {
    link.onload = link.onerror = done;
  });
}
