// Where suggestions come from: quick sources are shown together, slow ones are added when they come.
import { form } from "./composer.js";
import { root } from "./root.js";

const THEIRS = `${root}/pickers/`;
const QUICK = { files: "mentions", commands: "commands" };
const SLOW = { files: ["symbols", "resources"], arguments: ["arguments"] };

// What the browser carries out comes before commands of the same name that are sent, and the name that was typed whole
// before those that begin with it: Enter takes the first.
export async function quick(kind, query) {
  if (kind === "snippets") return options(form.dataset.snippets, there(query));
  if (!QUICK[kind]) return [];
  const [ours, theirs] = await Promise.all([
    options(form.dataset[kind], { q: query }),
    options(`${THEIRS}${QUICK[kind]}`, there(query)),
  ]);
  const names = ours.map((option) => option.dataset.command);
  for (const option of theirs) option.dataset.sent = "";
  const sent = theirs.filter((option) => !names.includes(option.dataset.command ?? ""));
  const isBeside = (option) => option.dataset.beside !== undefined; // a file beside the project comes after its own
  if (kind === "files") return [...sent.filter((option) => !isBeside(option)), ...ours, ...sent.filter(isBeside)];
  const isWhole = (option) => option.dataset.command?.toLowerCase() === query.toLowerCase();
  return [...ours, ...sent].sort((one, other) => isWhole(other) - isWhole(one));
}

// One promise of options for each source.
export function slow({ kind, query, name = "", written = "" }) {
  return (SLOW[kind] ?? []).map((source) => options(`${THEIRS}${source}`, { ...there(query), name, written }));
}

function there(query) {
  const { project, session } = document.body.dataset;
  return { q: query, project, session };
}

// The options at a URL; none where nobody answers.
async function options(url, query) {
  const answer = await fetch(`${url}?${new URLSearchParams(query)}`).catch(() => null);
  const page = new DOMParser().parseFromString(answer?.ok ? await answer.text() : "", "text/html");
  return [...page.querySelectorAll("[role=option]")];
}
