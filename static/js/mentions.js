// What a prompt mentions: agents by their names, and parts (a symbol, a resource) by the words that stand for
// them. Those that were picked from the suggestions count while their @words are in the text.
import { keep, read } from "./composer.js";
import { onPage } from "./page.js";

let picked = new Set();
let parts = new Map();
onPage(() => {
  picked = new Set(read("mentions").split("\n").filter(Boolean));
  parts = new Map(stored());
});

export const mentions = {
  add(...names) {
    for (const name of names) picked.add(name);
    keep("mentions", [...picked].join("\n"));
  },
  // `words` with its `@`, `part` as JSON without the place in the text, which the server finds.
  attach(words, part) {
    parts.set(words, part);
    keep("mentioned-parts", JSON.stringify([...parts]));
  },
  within: (text) => [...picked].filter((name) => text.includes(`@${name}`)),
  partsWithin: (text) =>
    [...parts].filter(([words]) => text.includes(words)).map(([words, part]) => JSON.stringify([words, part])),
};

function stored() {
  try {
    return JSON.parse(read("mentioned-parts") || "[]");
  } catch {
    return [];
  }
}
