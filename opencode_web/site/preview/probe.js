// The first script of each page that is previewed. It tells the page around it, by a channel that only that one has, what the
// console says and what a person points at. The page it is in is free to say anything in its place: nobody trusts it.
(() => {
  const AROUND = "@around";
  const MOST = 4000; // characters of one text
  const KEPT = 100; // messages before anybody listens
  const STYLES = ["display", "position", "inset", "width", "height", "margin", "padding", "border", "border-radius", "box-shadow", "color", "background-color", "font", "text-align", "gap", "flex", "grid-template-columns", "align-items", "justify-content", "overflow", "opacity", "z-index"];
  const PICTURED = { elements: 150, characters: 1_500_000 };
  if (parent === self) return;

  let port = null;
  const waiting = [];
  const cut = (text) => String(text).slice(0, MOST);
  function tell(said) {
    if (port) port.postMessage(said);
    else if (waiting.length < KEPT) waiting.push(said);
  }

  addEventListener("message", (event) => {
    if (event.source !== parent || event.origin !== AROUND || event.data !== "preview" || !event.ports[0]) return;
    event.stopImmediatePropagation();
    port?.close();
    [port] = event.ports;
    port.onmessage = ({ data }) => Object.hasOwn(ORDERS, data?.kind) && ORDERS[data.kind]();
    for (const said of waiting.splice(0)) port.postMessage(said);
    at();
  });
  parent.postMessage("preview", AROUND);

  const at = () => tell({ kind: "at", path: cut(location.pathname + location.search), title: cut(document.title) });
  addEventListener("load", at);
  addEventListener("popstate", at);
  addEventListener("hashchange", at);

  // The console, and what nobody caught.

  function words(value) {
    if (value instanceof Error) return value.stack?.includes(value.message) ? value.stack : `${value}\n${value.stack ?? ""}`;
    if (typeof value !== "object" || value === null) return String(value);
    try {
      return JSON.stringify(value) ?? String(value);
    } catch {
      return Object.prototype.toString.call(value);
    }
  }

  for (const level of ["error", "warn", "info", "log", "debug"]) {
    const say = console[level];
    console[level] = (...values) => {
      say.apply(console, values);
      tell({ kind: "console", level, text: cut(values.slice(0, 20).map(words).join(" ")) });
    };
  }
  const failed = (text) => tell({ kind: "console", level: "error", text: cut(text) });
  addEventListener(
    "error",
    ({ target, message, filename, lineno, error }) => {
      if (target instanceof Element) failed(`${target.localName} not loaded: ${target.src || target.href || ""}`);
      else failed(error ? words(error) : `${message} (${filename}:${lineno})`);
    },
    true,
  );
  addEventListener("unhandledrejection", ({ reason }) => failed(`Unhandled rejection: ${words(reason)}`));

  // To point at an element: by the pointer, or by Tab and Enter. Escape ends it.

  const frame = document.createElement("div");
  for (const [name, value] of Object.entries({ position: "fixed", zIndex: "2147483647", pointerEvents: "none", boxSizing: "border-box", border: "2px solid #4650c8", background: "rgb(70 80 200 / 15%)" })) frame.style[name] = value;
  let pointed = null;
  let picking = null;

  function point(element) {
    if (!(element instanceof Element) || element === frame) return;
    pointed = element;
    const { left, top, width, height } = element.getBoundingClientRect();
    for (const [name, value] of Object.entries({ left, top, width, height })) frame.style[name] = `${value}px`;
  }

  function pick() {
    picking?.abort();
    picking = new AbortController();
    const how = { capture: true, signal: picking.signal };
    document.documentElement.append(frame);
    point(document.activeElement ?? document.body);
    const still = (event) => {
      event.preventDefault();
      event.stopImmediatePropagation();
    };
    for (const name of ["pointerdown", "mousedown", "pointerup", "mouseup", "touchstart", "touchend", "dblclick", "contextmenu"]) addEventListener(name, (event) => event.stopImmediatePropagation(), how);
    addEventListener("pointermove", (event) => point(event.composedPath()[0]), how);
    addEventListener("focusin", ({ target }) => point(target), how);
    addEventListener(
      "click",
      (event) => {
        still(event);
        picked(event.composedPath()[0]);
      },
      how,
    );
    addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Enter" && event.key !== "Escape") return;
        still(event);
        picked(event.key === "Enter" ? pointed : null);
      },
      how,
    );
  }

  function rest() {
    picking?.abort();
    picking = null;
    frame.remove();
  }

  function picked(element) {
    rest();
    if (!(element instanceof Element)) return tell({ kind: "unpicked" });
    const style = getComputedStyle(element);
    const { width, height } = element.getBoundingClientRect();
    tell({
      kind: "picked",
      selector: cut(selector(element)),
      markup: cut(element.outerHTML),
      styles: cut(STYLES.map((name) => `${name}: ${style.getPropertyValue(name)}`).join("; ")),
      path: cut(location.pathname + location.search),
      width: Math.ceil(width),
      height: Math.ceil(height),
      picture: pictured(element, Math.ceil(width), Math.ceil(height)),
    });
  }

  function selector(element) {
    const steps = [];
    for (let one = element; one && one !== document.documentElement; one = one.parentElement) {
      const root = one.getRootNode();
      if (one.id && root.querySelectorAll(`#${CSS.escape(one.id)}`).length === 1) return [`#${CSS.escape(one.id)}`, ...steps].join(" > ");
      const alike = [...(one.parentNode?.children ?? [])].filter(({ localName }) => localName === one.localName);
      steps.unshift(alike.length > 1 ? `${one.localName}:nth-of-type(${alike.indexOf(one) + 1})` : one.localName);
    }
    return steps.join(" > ") || element.localName;
  }

  // As a drawing: a copy in a document of its own, which loads nothing, with each style as it was computed.
  function pictured(element, width, height) {
    const own = [element, ...element.querySelectorAll("*")];
    if (!width || !height || own.length > PICTURED.elements || element === document.documentElement) return "";
    const copy = document.implementation.createHTMLDocument("").importNode(element, true);
    const copies = [copy, ...copy.querySelectorAll("*")];
    let size = 0;
    for (const [index, one] of own.entries()) {
      const style = getComputedStyle(one);
      const text = [...style].map((name) => `${name}:${style.getPropertyValue(name)}`).join(";");
      size += text.length;
      if (size > PICTURED.characters) return "";
      copies[index].setAttribute("style", index ? text : `${text};margin:0;position:static;inset:auto;transform:none`);
      if (one instanceof HTMLImageElement) copies[index].setAttribute("src", drawn(one));
      if (one instanceof HTMLScriptElement) copies[index].remove();
    }
    const markup = new XMLSerializer().serializeToString(copy);
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><foreignObject width="100%" height="100%">${markup}</foreignObject></svg>`;
    return svg.length > 2 * PICTURED.characters ? "" : svg;
  }

  function drawn(image) {
    try {
      const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
      canvas.getContext("2d").drawImage(image, 0, 0, image.width, image.height);
      return canvas.toDataURL();
    } catch {
      return "data:,"; // of another origin
    }
  }

  const ORDERS = {
    pick,
    rest,
    reload: () => location.reload(),
    back: () => history.back(),
  };
})();
