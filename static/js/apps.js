// Apps of MCP servers in the cards of their calls (MCP Apps, 2026-01-26). Each is in a frame without an origin; what it says comes
// as messages, is hostile and never counts as a person's word: a link, a text for the prompt and a call are asked about.
import { field } from "./composer.js";
import { onPage } from "./page.js";
import { begin as watch } from "./ready.js";
import { isDark, onScheme } from "./scheme.js";
import { addSheet } from "./sheet.js";
import { gettext, interpolate } from "./words.js";

addSheet("apps");

const VERSION = "2026-01-26";
const BEGINS = "ui/initialize";
const [LOWEST, HIGHEST, FIRST] = [48, 720, 240]; // pixels of a frame's height
const MOST_AT_ONCE = 4; // requests to the server
const PAUSE = 700; // milliseconds, before what takes longer is asked about again
const [BURST, A_SECOND] = [300, 60]; // messages
const WRITING = 2000; // milliseconds since the last key in a field
const MOST_THEFTS = 3;
const MOST_WORDS = 4000; // characters of a suggested prompt
const MOST_ADDRESS = 2000;
const REMEMBERED = "app-reach"; // a list of what a person has let through: an app, and the digest of the addresses
const MOST_REMEMBERED = 100;
const [REFUSED, UNKNOWN] = [-32000, -32601]; // of JSON-RPC

const { "X-CSRF-Token": token } = JSON.parse(document.body.getAttribute("hx-headers"));
const views = new Set();

const element = (tag, values = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), values);
  made.append(...children);
  return made;
};
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

// The colours and typefaces of the page, under the names of the protocol.
const NAMES = {
  "--color-background-primary": "--bg",
  "--color-background-secondary": "--panel",
  "--color-background-tertiary": "--hover",
  "--color-background-danger": "--bad-soft",
  "--color-background-warning": "--warn-soft",
  "--color-text-primary": "--text",
  "--color-text-secondary": "--soft",
  "--color-text-danger": "--bad",
  "--color-text-success": "--good",
  "--color-text-warning": "--warn",
  "--color-border-primary": "--line",
  "--color-border-secondary": "--line-strong",
  "--color-ring-primary": "--accent",
  "--font-sans": "--font",
  "--font-mono": "--mono",
  "--border-radius-md": "--radius",
  "--border-radius-sm": "--radius-small",
};

function look() {
  const style = getComputedStyle(document.documentElement);
  const variables = Object.fromEntries(Object.entries(NAMES).map(([name, ours]) => [name, style.getPropertyValue(ours).trim()]));
  return { theme: isDark() ? "dark" : "light", styles: { variables } };
}

function begin(app) {
  app.dataset.drawn = "";
  const asked = app.querySelector(".app-reach");
  if (!asked) return show(app, "");
  if (remembered().includes(app.dataset.remember)) return show(app, app.dataset.reach);
  for (const button of asked.querySelectorAll("button")) button.disabled = false; // a click before this would be lost
  asked.querySelector("[data-without]").addEventListener("click", () => show(app, ""));
  asked.querySelector("[data-with]").addEventListener("click", () => {
    remember(app.dataset.remember);
    show(app, app.dataset.reach);
  });
}

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(REMEMBERED)) ?? [];
  } catch {
    return [];
  }
}

function remember(what) {
  try {
    localStorage.setItem(REMEMBERED, JSON.stringify([...remembered(), what].slice(-MOST_REMEMBERED)));
  } catch {
    // It is asked about again.
  }
}

function show(app, reach) {
  const focused = app.contains(document.activeElement);
  app.querySelector(".app-reach")?.remove();
  const src = `${app.dataset.frame}?${new URLSearchParams({ reach })}`;
  const frame = element("iframe", { title: app.getAttribute("aria-label"), src, referrerPolicy: "no-referrer" });
  frame.sandbox = "allow-scripts";
  frame.style.height = `${FIRST}px`;
  const said = JSON.parse(app.querySelector(".app-said").content.textContent);
  views.add({ app, frame, reach, said, left: BURST, since: performance.now(), waiting: new AbortController(), working: 0, told: false, thefts: 0 });
  app.querySelector(".app-place").replaceChildren(frame);
  if (focused) app.focus({ preventScroll: true });
}

// Its frame is taken away and nothing that it asked for is waited for any longer.
function end(view, words = "") {
  views.delete(view);
  if (view.frame.isConnected) post(view, { id: "teardown", method: "ui/resource-teardown", params: { reason: words } });
  view.waiting.abort();
  view.app.querySelector(".app-asks").replaceChildren();
  if (!words) return view.frame.remove();
  const again = element("button", { type: "button", className: "button", textContent: gettext("Start it again") });
  again.addEventListener("click", () => show(view.app, view.reach));
  view.app.querySelector(".app-place").replaceChildren(element("p", { className: "app-off soft" }, words, " ", again));
}

// The frame has no origin that could be named.
const post = (view, message) => view.frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*");

function allowed(view) {
  const now = performance.now();
  view.left = Math.min(BURST, view.left + ((now - view.since) / 1000) * A_SECOND) - 1;
  view.since = now;
  return view.left > 0;
}

addEventListener("message", ({ source, origin, data }) => {
  const view = [...views].find(({ frame }) => source && frame.contentWindow === source);
  if (!view || origin !== "null") return;
  if (!allowed(view)) return end(view, gettext("The app was ended, as it sent too many messages."));
  if (!isObject(data) || data.jsonrpc !== "2.0" || typeof data.method !== "string") return;
  const params = isObject(data.params) ? data.params : {};
  if (data.id === undefined) NOTICES[data.method]?.(view, params);
  else if (typeof data.id === "string" || typeof data.id === "number") answer(view, data.id, data.method, params);
});

const NOTICES = {
  "ui/notifications/initialized": (view) => {
    if (view.told) return;
    view.told = true;
    post(view, { method: "ui/notifications/tool-input", params: { arguments: view.said.arguments } });
    post(view, { method: "ui/notifications/tool-result", params: view.said.result });
  },
  "ui/notifications/size-changed": ({ frame }, { height }) => {
    if (Number.isFinite(height)) frame.style.height = `${Math.min(HIGHEST, Math.max(LOWEST, Math.ceil(height)))}px`;
  },
  "ui/notifications/escape": ({ app, frame }) => {
    if (document.activeElement === frame) app.focus();
  },
};

class Problem extends Error {
  constructor(message, code = REFUSED) {
    super(message);
    this.code = code;
  }
}

const ANSWERS = {
  [BEGINS]: (view) => {
    begun(view);
    return {
      protocolVersion: VERSION,
      hostInfo: { name: "opencode-web", version: "1" },
      hostCapabilities: { openLinks: {}, serverTools: {}, serverResources: {}, message: { text: {} } },
      hostContext: {
        ...look(),
        toolInfo: { tool: { name: view.app.dataset.tool, inputSchema: { type: "object" } } },
        displayMode: "inline",
        availableDisplayModes: ["inline"],
        containerDimensions: { width: view.frame.clientWidth, maxHeight: HIGHEST },
        locale: navigator.language,
        timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
        userAgent: "opencode-web",
        platform: "web",
      },
    };
  },
  ping: () => ({}),
  "ui/request-display-mode": () => ({ mode: "inline" }),
  "ui/open-link": openLink,
  "ui/message": suggest,
  "tools/call": toServer,
  "resources/read": toServer,
};

// A frame that was moved in the page begins anew: what it asked for before is nothing to it now.
function begun(view) {
  view.waiting.abort();
  Object.assign(view, { waiting: new AbortController(), told: false });
  view.app.querySelector(".app-asks").replaceChildren();
}

async function answer(view, id, method, params) {
  const { waiting } = view;
  const reply = (said) => (method === BEGINS || view.waiting === waiting) && post(view, { id, ...said });
  try {
    if (!Object.hasOwn(ANSWERS, method)) throw new Problem("Not supported here.", UNKNOWN);
    reply({ result: await ANSWERS[method](view, params, method) });
  } catch (error) {
    reply({ error: { code: error.code ?? REFUSED, message: String(error.message) } });
  }
}

async function toServer(view, params, method) {
  if (view.working >= MOST_AT_ONCE) throw new Problem("Too much is asked for at once.");
  view.working += 1;
  const over = new AbortController();
  try {
    const { signal } = view.waiting;
    const key = crypto.randomUUID();
    signal.addEventListener("abort", () => send(view, { key, end: "1" }).catch(() => {}), { signal: over.signal });
    let answer = await send(view, { key, method, params: JSON.stringify(params) });
    while (!answer.result && answer.error === undefined) {
      await new Promise((done) => setTimeout(done, PAUSE));
      signal.throwIfAborted();
      answer = await send(view, { key });
    }
    if (answer.error !== undefined) throw new Problem(answer.error);
    return answer.result;
  } finally {
    over.abort();
    view.working -= 1;
  }
}

async function send(view, values) {
  const body = new FormData();
  for (const [name, value] of Object.entries(values)) body.append(name, value);
  const asked = { method: "POST", headers: { "X-CSRF-Token": token }, body, keepalive: "end" in values };
  const response = await fetch(view.app.dataset.ask, asked);
  if (!response.ok) throw new Problem("The server did not answer.");
  return response.status === 204 ? {} : response.json();
}

// One at a time, below the frame, so that nothing moves from under the pointer. Resolves once a person has agreed.
function ask(view, words, shown, agree) {
  const asks = view.app.querySelector(".app-asks");
  if (asks.firstChild) throw new Problem("Something else is asked already.");
  const no = element("button", { type: "button", className: "button", textContent: gettext("No") });
  return new Promise((yes, refuse) => {
    const close = (settle) => {
      const focused = asks.contains(document.activeElement);
      asks.replaceChildren();
      if (focused) view.app.focus({ preventScroll: true });
      settle();
    };
    const decline = () => close(() => refuse(new Problem("The user does not want that.")));
    agree.addEventListener("click", () => setTimeout(() => close(yes))); // a link is followed first
    no.addEventListener("click", decline);
    view.waiting.signal.addEventListener("abort", () => refuse(new Problem("It has ended.")));
    const choices = element("p", { className: "app-choices" }, no, agree);
    const card = element("div", { className: "app-ask" }, element("p", { textContent: words }), shown, choices);
    card.addEventListener("keydown", ({ key }) => key === "Escape" && decline());
    asks.append(card);
    watch(); // it takes no click before it can have been read
  });
}

async function openLink(view, { url }) {
  const address = typeof url === "string" && url.length <= MOST_ADDRESS && URL.canParse(url) ? new URL(url) : null;
  if (!address || !["https:", "http:"].includes(address.protocol)) throw new Problem("This is no address of a page.");
  const link = element("a", { className: "button", href: address.href, target: "_blank", rel: "noopener noreferrer" });
  link.textContent = interpolate(gettext("Open %(host)s"), { host: address.host });
  const shown = element("code", { className: "app-words", textContent: address.href });
  await ask(view, gettext("The app wants to open this page in a new tab:"), shown, link);
  return {};
}

async function suggest(view, { content }) {
  const blocks = Array.isArray(content) ? content : [content];
  const texts = blocks.filter((block) => isObject(block) && block.type === "text" && typeof block.text === "string");
  const text = texts.map((block) => block.text).join("\n\n").slice(0, MOST_WORDS);
  if (!text.trim()) throw new Problem("There is no text in this.");
  const put = element("button", { type: "button", className: "button", textContent: gettext("Put it into the prompt") });
  const shown = element("pre", { className: "app-words", textContent: text, tabIndex: 0 });
  await ask(view, gettext("The app suggests a prompt. It is sent when you send it:"), shown, put);
  field.focus();
  document.execCommand("insertText", false, text); // as typed, so that the browser can take it back
  return {};
}

export function draw(within) {
  for (const view of [...views]) if (!view.frame.isConnected) end(view);
  for (const app of within.querySelectorAll(".mcp-app:not([data-drawn])")) if (app.isConnected) begin(app);
}

// An app can take the focus by itself. Who writes at that moment gets it back; one that goes on with it is ended.
const written = { field: null, at: 0 };
for (const name of ["keydown", "pointerdown"]) {
  document.addEventListener(name, ({ target, key }) => {
    const writes = key !== "Tab" && target.matches?.("textarea, input, [contenteditable]");
    Object.assign(written, writes ? { field: target, at: performance.now() } : { field: null });
  }, true);
}
addEventListener("blur", () => {
  const view = [...views].find(({ frame }) => frame === document.activeElement);
  const { field: writes, at } = written;
  if (!view || !writes || performance.now() - at > WRITING) return;
  view.thefts += 1;
  if (view.thefts > MOST_THEFTS) end(view, gettext("The app was ended, as it took the focus from where you wrote."));
  setTimeout(() => { // the frame has it only after this event
    window.focus();
    writes.blur();
    writes.focus({ preventScroll: true });
  });
});

onScheme(() => {
  for (const view of views) post(view, { method: "ui/notifications/host-context-changed", params: look() });
});
const endAll = () => [...views].forEach((view) => end(view));
onPage(() => endAll);
addEventListener("pagehide", ({ persisted }) => persisted || endAll());
