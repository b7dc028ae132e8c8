const added = new Map();

// Adds a style sheet that the page does not begin with, once; until it is there, or could not be had: then it is asked for
// again with the next use.
export function addSheet(name) {
  if (!added.has(name)) added.set(name, load(name));
  return added.get(name);
}

// Opens something whose style sheets are loaded with it: it hears what is typed, and is seen when it is dressed.
export function dress(element, ...names) {
  element.style.opacity = "0";
  Promise.all(names.map(addSheet)).then(() => (element.style.opacity = ""));
}

function load(name) {
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: new URL(`../css/${name}.css`, import.meta.url) });
  document.head.append(link);
  return new Promise((done) => {
    link.onload = done;
    link.onerror = () => {
      link.remove();
      added.delete(name);
      done();
    };
  });
}
