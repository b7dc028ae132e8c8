// The agents a prompt mentions: those picked from the suggestions whose @name is still in the text.
import { keep, read } from "./composer.js";

const picked = new Set(read("mentions").split("\n").filter(Boolean));

export const mentions = {
  add(...names) {
    for (const name of names) picked.add(name);
    keep("mentions", [...picked].join("\n"));
  },
  within: (text) => [...picked].filter((name) => text.includes(`@${name}`)),
};
