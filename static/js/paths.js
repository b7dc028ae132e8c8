// Paths of the project in texts: an answer, an output, a trace, a terminal. The server says which are there.
import { post } from "./files-api.js";

// `a/b.py`, `a/b.py:12:3`, `a/b.py#L12`, `a/b.py(12,3)`, `a/b.cs:line 12`, `a/b.php on line 12`; of Python's traces
// `"a/b.py", line 12`; of Node's `file:///a/b.mjs:12:3`.
const PATH = /(?<![\w/.~@-])(?:file:\/\/)?((?:\.{0,2}\/)?(?:[\w@+-][\w@+.-]*\/)*[\w@+-][\w@+.-]*\.[A-Za-z]\w{0,9}|(?:[\w@+.-]+\/)+[\w@+.-]+)(?:["']?,? (?:on )?line (\d+)|:line (\d+)|[:#(]L?(\d+)(?:[:,](\d+))?)?/g;
// Java names the file alone, and its folder by the class: `at org.some.Thing.act(Thing.java:12)`.
const CLASS = /([\w$]+(?:\.[\w$]+)*)\.[\w$]+\.[\w$<>]+\($/;
const MOST = 60; // in one text
const LONGEST = 20_000; // characters of one text: of a longer one the end, where traces are
const AT_ONCE = 200;

export function pathsIn(text) {
  const from = Math.max(0, text.length - LONGEST);
  const found = [...text.slice(from).matchAll(PATH)].slice(-MOST);
  return found.map((match) => {
    const [whole, path, traced, told, line, column] = match;
    const index = from + match.index;
    const folder = path.includes("/") ? null : CLASS.exec(text.slice(Math.max(0, index - 300), index));
    return {
      index,
      whole,
      path: folder ? `${folder[1].replaceAll(".", "/")}/${path}` : path,
      line: Number(traced ?? told ?? line) || 0,
      column: Number(column) || 1,
    };
  });
}

// Of what is written the files that are there, as a Map; null where the server cannot be reached. What is relative is so to the
// `folder` first.
export async function find(paths, folder = "") {
  const there = new Map();
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const answer = await post("known", { path: paths.slice(at, at + AT_ONCE), folder }).catch(() => null);
    if (!answer?.ok) return null;
    for (const [written, file] of Object.entries(await answer.json())) there.set(written, file);
  }
  return there;
}
