// xterm.js under a policy without inline styles: what it writes into <style> elements and style attributes
// goes into constructed style sheets and style properties, which the policy leaves to scripts.

function sheetElement() {
  const sheet = new CSSStyleSheet();
  const stand = document.createComment("style");
  document.adoptedStyleSheets.push(sheet);
  Object.defineProperty(stand, "textContent", { set: (text) => sheet.replaceSync(text) });
  stand.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    Comment.prototype.remove.call(stand);
  };
  return stand;
}

function createElement(tag) {
  return tag === "style" ? sheetElement() : Document.prototype.createElement.call(document, tag);
}

// All its <style> elements are made while it is opened.
export function open(terminal, host) {
  document.createElement = createElement;
  try {
    terminal.open(host);
  } finally {
    delete document.createElement;
  }
}

// A piece of a line gets its colours by an attribute; set as properties they are the same.
HTMLSpanElement.prototype.setAttribute = function setAttribute(name, value) {
  if (name === "style") this.style.cssText = value;
  else Element.prototype.setAttribute.call(this, name, value);
};

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

// The colours of the page as they are now.
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const token = (name) => style.getPropertyValue(`--${name}`).trim();
  const bright = (name) => `bright${name[0].toUpperCase()}${name.slice(1)}`;
  const colours = NAMES.flatMap((name, at) => [
    [name, token(`term-${at}`)],
    [bright(name), token(`term-${at + 8}`)],
  ]);
  return {
    ...Object.fromEntries(colours),
    background: token("bg"),
    foreground: token("text"),
    cursor: token("accent"),
    cursorAccent: token("bg"),
    selectionBackground: `${token("accent")}55`,
    scrollbarSliderBackground: `${token("soft")}44`,
    scrollbarSliderHoverBackground: `${token("soft")}77`,
    scrollbarSliderActiveBackground: `${token("soft")}99`,
  };
}

export function font() {
  return getComputedStyle(document.documentElement).getPropertyValue("--mono").trim();
}
