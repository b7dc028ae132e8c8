// What a page does, as the page itself sees it: put in before any of its own scripts.
// Times are milliseconds since 1970, so that they compare with the model's stamps and with the page before.

const bench = (globalThis.bench = { stamps: [], keys: [] });
const STAMP = /\d{19}/g;
const TAIL = 400; // characters: a stamp and what may stand after it in the same element
let changed = 0;
let busy = 0;
let longest = 0;
let newest = "";
let shift = { worst: 0, sum: 0, first: 0, last: 0 };

const now = () => performance.timeOrigin + performance.now();

function afterPaint(callback) {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = callback;
  requestAnimationFrame(() => port2.postMessage(null));
}

function observe(type, seen) {
  new PerformanceObserver((list) => list.getEntries().forEach(seen)).observe({ type, buffered: true });
}

// Stamps only grow, so a page that shows one shows all before it.
function read(text) {
  const found = text.slice(-TAIL).match(STAMP)?.at(-1) ?? "";
  if (found <= newest) return;
  newest = found;
  afterPaint(() => bench.stamps.push([found, now()]));
}

new MutationObserver((records) => {
  changed = performance.now();
  for (const { target, addedNodes, type } of records) {
    if (type === "characterData") read(target.data);
    for (const node of addedNodes) read(node.textContent ?? "");
  }
}).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });

// Tasks of 50 ms and more.
observe("longtask", ({ startTime, duration }) => {
  busy = startTime + duration;
  longest = Math.max(longest, duration);
});

// Cumulative Layout Shift: the worst of the windows of five seconds without a pause of one.
observe("layout-shift", ({ startTime, value, hadRecentInput }) => {
  if (hadRecentInput) return;
  if (startTime - shift.last > 1000 || startTime - shift.first > 5000) Object.assign(shift, { sum: 0, first: startTime });
  shift.sum += value;
  shift.last = startTime;
  shift.worst = Math.max(shift.worst, shift.sum);
});

let pressed = 0;
addEventListener("keydown", ({ timeStamp }) => (pressed = timeStamp), true);
addEventListener("input", () => {
  const since = pressed;
  afterPaint(() => bench.keys.push(performance.now() - since));
}, true);

// A click and what it brings, also when that is another page: of the same origin, so it finds the note.
addEventListener("click", ({ timeStamp }) => (sessionStorage.benchClicked = performance.timeOrigin + timeStamp), true);

// A press of a key counts as a click does, and text that is put in without one.
addEventListener("keydown", ({ timeStamp }) => (sessionStorage.benchClicked = performance.timeOrigin + timeStamp), true);
addEventListener("input", ({ timeStamp }) => (sessionStorage.benchClicked ??= performance.timeOrigin + timeStamp), true);

function isSeen(element) {
  const { bottom, top, height } = element.getBoundingClientRect();
  return height && bottom > 0 && top < innerHeight && element.checkVisibility({ visibilityProperty: true });
}

// Both apps show files in shadow roots, which no XPath looks into.
function* within(root, text) {
  for (const element of root.querySelectorAll("*")) {
    if (element.shadowRoot) yield* within(element.shadowRoot, text);
    else if (root !== document && [...element.childNodes].some((node) => node.nodeType === 3 && node.data.includes(text))) yield element;
  }
}

bench.visible = (text) => {
  const found = document.evaluate(`//body//*[text()[contains(., "${text}")]]`, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
  for (let at = found.snapshotLength - 1; at >= 0; at--) if (isSeen(found.snapshotItem(at))) return true;
  return bench.pierces && [...within(document, text)].some(isSeen);
};

function look() {
  const text = sessionStorage.benchWanted;
  if (!text) return;
  if (sessionStorage.benchClicked && bench.visible(text)) {
    delete sessionStorage.benchWanted;
    afterPaint(() => (sessionStorage.benchShown = now()));
  } else requestAnimationFrame(look);
}

bench.want = (text, pierces = false) => {
  bench.pierces = pierces;
  for (const name of ["benchClicked", "benchShown"]) delete sessionStorage[name];
  sessionStorage.benchWanted = text;
  look();
};
bench.shown = () => sessionStorage.benchShown && sessionStorage.benchShown - sessionStorage.benchClicked;

// To the end, which may come nearer or go away while what is below loads.
bench.scroll = async (selector) => {
  const panel = document.querySelector(selector);
  const frame = () => new Promise(requestAnimationFrame);
  for (let at = -1; at < panel.scrollTop; ) {
    at = panel.scrollTop;
    panel.scrollBy(0, 150);
    for (let frames = 0; frames < 2; frames++) await frame();
  }
};

bench.shift = () => shift.worst;
bench.longest = () => longest;
bench.forget = () => {
  shift = { worst: 0, sum: 0, first: 0, last: 0 };
  longest = 0;
  bench.stamps = [];
  bench.keys = [];
};
bench.firstPaint = () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;

// The last that happened: a change, a long task, or the end of a request.
bench.last = () => Math.max(bench.firstPaint(), changed, busy, ...performance.getEntriesByType("resource").map((entry) => entry.responseEnd));
bench.pause = () => performance.now() - bench.last();

if (location.protocol.startsWith("http")) look();
