// The git panel: what is changed, staged and committed of the page's repository. Loaded when it is first opened; renewed when
// something changes on the disk, as long as it is open.
import { listen, onNews } from "./files-news.js";
import { send } from "./files-api.js";
import { addSheet } from "./sheet.js";
import { root } from "./root.js";
import { gettext, interpolate } from "./words.js";

const sheet = addSheet("git");
const box = document.createElement("div");
Object.assign(box, { id: "git", className: "git-panel", popover: "auto" });
box.setAttribute("role", "dialog");
box.setAttribute("aria-labelledby", "git-title");
box.setAttribute("hx-sync", "this:queue all"); // what is staged while an answer is on its way is staged, too
box.setAttribute("hx-disinherit", "hx-sync");
document.body.append(box);

const { htmx } = window;
const isOpen = () => box.matches(":popover-open");
const where = () => ({ session: document.body.dataset.session });
const address = (part) => `${root}/p/${document.body.dataset.project}/git${part}`;
const byId = (id) => id && document.getElementById(id);
let asked = null; // a renewal that is on its way
let renewal = null; // one of the view with it
let again = false;

export async function open() {
  await sheet;
  box.showPopover();
  if (box.dataset.place === place()) await renewAll();
  else await htmx.ajax("GET", address(""), { source: box, target: box, swap: "innerHTML", values: where() });
  box.dataset.place = place();
  listen();
  (box.querySelector(".git-name[id]") || byId("git-title"))?.focus();
}

// From elsewhere in the page: one commit, and those that changed a file (as the session sees it).
export const showCommit = (hash) => open().then(() => look("shown", { commit: hash })).then(enter);
export const showHistory = (file) => open().then(() => look("log", { file })).then(enter);
const enter = () => (view()?.querySelector("button") || byId("git-title")).focus();

const place = () => Object.values(document.body.dataset).join();

// What changes while one is on its way takes another.
async function renew() {
  if (!byId("git-list")) return;
  again = Boolean(asked);
  if (asked) return asked;
  asked = htmx.ajax("GET", address("/list"), { source: "#git-list", target: "#git-list", swap: "innerHTML", values: where() }).catch(() => {});
  await asked;
  asked = null;
  if (again) await renew();
}

onNews(() => isOpen() && renew());

// The file of a row, or all of its list.
function subject(element) {
  const [row, list] = [element.closest("li[data-path]"), element.closest("[data-git-side]")];
  return { ...where(), side: list.dataset.gitSide, ...(row && { path: decodeURIComponent(row.dataset.path) }) };
}

const act = (name, values) => htmx.ajax("POST", address(`/${name}`), { source: box, target: "#git-list", swap: "innerHTML", values });

async function show(row) {
  const diff = row.querySelector(".git-diff");
  const values = subject(row);
  await htmx.ajax("GET", address(values.side === "conflicts" ? "/conflict" : "/diff"), { source: diff, target: diff, swap: "innerHTML", values });
}

function toggle(button) {
  const row = button.closest("li");
  const diff = row.querySelector(".git-diff");
  diff.hidden = !diff.hidden;
  button.setAttribute("aria-expanded", String(!diff.hidden));
  if (diff.hidden) diff.replaceChildren();
  else show(row);
}

// The lines of a hunk that are changed get boxes, and what is done is done with those that are ticked.
function chooseLines(button) {
  const hunk = button.closest("tbody");
  const on = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", String(on));
  for (const old of hunk.querySelectorAll(".git-pick")) old.remove();
  if (!on) return;
  for (const row of hunk.querySelectorAll("tr:is(.add, .del)")) {
    const [sign, number] = row.matches(".add") ? ["added", row.querySelector(".num.new")] : ["removed", row.querySelector(".num.old")];
    const pick = Object.assign(document.createElement("input"), { type: "checkbox", className: "git-pick", name: sign, value: number.dataset.n });
    pick.setAttribute("aria-label", interpolate(gettext("Line %(n)s, %(sign)s"), { n: number.dataset.n, sign }));
    row.querySelector("td.line").prepend(pick);
  }
  hunk.querySelector(".git-pick")?.focus();
}

// Whoever chooses there is not disturbed: what is late by then is refused.
const chooses = (diff) => Boolean(diff.querySelector("[data-git-lines][aria-pressed=true], .git-conflict"));

function part(button) {
  const hunk = button.closest("tbody");
  const of = (name) => [...hunk.querySelectorAll(`.git-pick[name=${name}]:checked`)].map((pick) => pick.value).join();
  const lines = { removed: of("removed"), added: of("added") };
  if (hunk.querySelector(".git-pick") && !lines.removed && !lines.added) return hunk.querySelector(".git-pick").focus();
  const chosen = lines.removed || lines.added ? lines : { hunks: button.parentElement.dataset.key };
  return act(button.dataset.gitPart, { ...subject(button), seen: button.closest(".git-table").dataset.seen, ...chosen });
}

// Branches, commits, what is put aside: one of them at a time, between the top and the message.
const view = () => byId("git-view");
const ask = (part, target, values, swap = "innerHTML") => htmx.ajax("GET", address(part), { source: target, target, swap, values: { ...where(), ...values } });

// The lists, and what is looked at beside them.
// Whoever is asked something in the view, and has not just answered it with `pressed`, is not disturbed.
async function renewAll(pressed) {
  await renew();
  if (!view() || view().hidden) return;
  const asks = [...view().querySelectorAll(".git-ask")].some((place) => place.childElementCount && !place.contains(pressed));
  if (!asks) await look(view().dataset.part, view().asked);
}

async function look(part, values = {}) {
  const shown = view();
  if (!shown) return; // there is no repository
  shown.dataset.part = part;
  shown.asked = values;
  shown.hidden = false;
  mark();
  await ask(`/${part}`, shown, values);
}

function mark() {
  const part = view().hidden ? "" : view().dataset.part;
  for (const button of box.querySelectorAll("[data-git-view]")) button.setAttribute("aria-expanded", String(button.dataset.gitView === part));
}

function toggleView(button) {
  if (button.getAttribute("aria-expanded") === "false") return look(button.dataset.gitView);
  view().hidden = true;
  view().replaceChildren();
  mark();
}

// Something that changes what a view shows.
async function change(name, values) {
  renewal = changed(name, values);
  await renewal;
  if (!box.contains(document.activeElement)) (view().querySelector("input[type=text]") || byId("git-title")).focus();
}

async function changed(name, values) {
  byId("git-ask")?.replaceChildren();
  await act(name, { ...where(), ...values });
  if (byId("git-problem").childElementCount) await renew(); // it may have gone half of the way
  if (!view().hidden) await look(view().dataset.part, view().asked);
}

// What takes its time says so as it goes on; Stop is in the top, for whoever looks.
async function withRemote(button) {
  byId("git-problem").replaceChildren();
  const said = byId("git-said");
  const words = Object.assign(document.createElement("pre"), { className: "git-words git-said" });
  words.setAttribute("aria-live", "off"); // its end is said
  const hear = (told) => {
    if (told.said) words.textContent = told.said;
    if (told.said && !words.isConnected) said.replaceChildren(words);
    words.scrollTop = words.scrollHeight;
    if (told.failed) said.replaceChildren();
    if (told.html) byId(told.failed ? "git-problem" : "git-said").innerHTML = told.html;
  };
  try {
    const row = button.closest("[data-ref]"); // a tag, or a branch there
    const about = row && { ref: decodeURIComponent(row.dataset.ref), seen: row.dataset.seen };
    const answer = await send(address("/remote"), { act: button.dataset.gitRemote, ...about });
    if (!answer.ok) hear({ html: await answer.text(), failed: true });
    renew();
    if (answer.ok) for await (const told of lines(answer.body)) hear(told);
  } catch {
    hear({ html: gettext("The server cannot be reached."), failed: true });
  }
  renewal = renewAll(button);
  await renewal;
  if (!box.contains(document.activeElement)) focusAfter(button);
}

// What was pressed may be gone with what was done.
function focusAfter(button) {
  if (button.isConnected) button.focus({ preventScroll: true });
  else (view().querySelector("input[type=text]") || byId("git-title")).focus();
}

async function* lines(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const all = (rest + next.value).split("\n");
    rest = all.pop();
    yield* all.map((line) => JSON.parse(line));
  }
}

function fold(button, inner) {
  inner.hidden = !inner.hidden;
  button.setAttribute("aria-expanded", String(!inner.hidden));
  return !inner.hidden;
}

function older(button) {
  ask("/log", button.closest("li"), { skip: button.dataset.gitOlder, path: decodeURIComponent(button.dataset.of), every: button.dataset.every }, "outerHTML");
}

async function allBranches(button) {
  await look("log", { every: button.getAttribute("aria-pressed") === "true" ? "" : "1" });
  view().querySelector("[data-git-every]").focus();
}

function unfold(button) {
  const row = button.closest("li");
  const inner = row.querySelector(".git-inner");
  if (fold(button, inner)) ask("/shown", inner, { commit: row.dataset.commit });
}

function rename(button) {
  const form = button.closest("li").querySelector("form");
  if (fold(button, form)) form.elements.name.select();
}

const subjectOf = ({ dataset: { ref, folder } }) => ref ?? folder;

// What comes of an act is shown before it, in the row that it is about.
async function question(button) {
  const [part, name] = button.dataset.gitAsk.split("?");
  const about = subjectOf(button.closest("li"));
  await renewal?.catch(() => {}); // it may put another row in the place of this one
  const place = [...view().querySelectorAll("li")].find((row) => subjectOf(row) === about)?.querySelector(".git-ask");
  if (!place) return;
  await ask(`/${part}`, place, { [name]: decodeURIComponent(about) });
  place.querySelector("button")?.focus();
}

async function beforeAbort() {
  const place = byId("git-ask");
  await ask("/abort", place, {});
  place.querySelector("button")?.focus();
}

const of = (button, name) => button.closest(`[data-${name}]`).dataset[name];
const named = (button, name) => decodeURIComponent(of(button, name)); // as it is, whatever is in it
const BY = [
  ["[data-git-view]", toggleView],
  ["[data-git-forge]", async () => (await import("./forge.js")).open()],
  ["[data-git-remote]", withRemote],
  ["[data-git-commit]", unfold],
  ["[data-git-older]", older],
  ["[data-git-every]", allBranches],
  ["[data-git-rename]", rename],
  ["[data-git-history]", (button) => look("log", { path: named(button, "path") })],
  ["[data-git-switch]", (button) => change("branch", { act: "switch", ref: named(button, "ref") })],
  ["[data-git-ask]", question],
  ["[data-git-stop]", () => send(address("/stop"), {})],
  ["[data-git-untag]", (button) => change("tag", { act: "delete", ref: named(button, "ref"), seen: of(button, "seen") })],
  ["[data-git-ongoing]", (button) => change("ongoing", { act: button.dataset.gitOngoing })],
  ["[data-git-begin]", (button) => change("ongoing", { act: button.dataset.gitBegin, commit: of(button, "commit") })],
  ["[data-git-abort]", beforeAbort],
  ["[data-git-stash]", (button) => change("stash", { act: button.dataset.gitStash, commit: of(button, "stash"), words: of(button, "words") })],
];

box.addEventListener("submit", (event) => {
  const { gitForm } = event.target.dataset;
  if (!gitForm) return;
  event.preventDefault();
  change(gitForm, Object.fromEntries(new FormData(event.target, event.submitter)));
});

box.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  BY.find(([selector]) => button.matches(selector))?.[1](button);
  if (button.matches("[data-git-open]")) toggle(button);
  else if (button.matches("[data-git-lines]")) chooseLines(button);
  else if (button.matches("[data-git-part]")) part(button);
  else if (button.matches("[data-git]")) act(button.dataset.git, subject(button));
});

// Whoever edits a part has chosen that text.
box.addEventListener("input", ({ target }) => {
  if (target.dataset.gitHand) target.form.elements[target.dataset.gitHand].value = "hand";
});

// A diff that is as it was stays, and so does the keyboard's place in it; so does one that comes too late.
const diffs = new WeakMap(); // diff -> what it shows
function renewDiff(detail) {
  const { target: diff, serverResponse: shown } = detail;
  if (chooses(diff) || (diff.hasChildNodes() && diffs.get(diff) === shown)) detail.shouldSwap = false;
  else diffs.set(diff, shown);
}

// What is renewed keeps what is open in it, and the keyboard stays where it is.
let before = null;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.matches(".git-diff")) renewDiff(detail);
  if (detail.target.id !== "git-list" || detail.isError) return;
  const focused = box.contains(document.activeElement) ? document.activeElement : null;
  const rows = [...box.querySelectorAll("li:has(> .git-diff:not([hidden]))")];
  before = { element: focused, focused: focused?.id || focused?.closest("li")?.id, top: box.scrollTop, open: new Map(rows.map((row) => [row.id, row.querySelector(".git-diff")])) };
});
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target.id === "git-problem") detail.target.scrollIntoView({ block: "center" });
  if (detail.target.id !== "git-list" || !before) return;
  for (const [id, diff] of before.open) {
    const row = byId(id);
    if (!row) continue;
    row.querySelector(".git-diff").replaceWith(diff);
    row.querySelector("[data-git-open]").setAttribute("aria-expanded", "true");
    if (!chooses(diff)) show(row); // who chooses lines is not disturbed
  }
  box.scrollTop = before.top;
  if (before.element?.isConnected) before.element.focus({ preventScroll: true }); // in a diff that was kept
  if (before.focused && !box.contains(document.activeElement)) {
    const there = byId(before.focused);
    ((there?.matches("li") ? there.querySelector("button") : there) || box.querySelector(".git-name[id]") || byId("git-title")).focus({ preventScroll: true });
  }
  before = null;
});
// A draft takes the place of what is written so that the browser's own undo brings that back.
box.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.target.id !== "git-message" || !detail.successful) return;
  detail.target.focus();
  detail.target.select();
  document.execCommand("insertText", false, detail.xhr.responseText);
});
document.addEventListener("git:committed", () => byId("git-commit").reset());
document.addEventListener("keydown", (event) => {
  if (event.target.form?.id === "git-commit" && event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form.requestSubmit();
});
