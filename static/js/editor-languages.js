// The language of a file by its name; each is loaded when the first of its files is opened.
import { StreamLanguage } from "../vendor/@codemirror/language/index.js";

const VENDOR = new URL("../vendor/@codemirror/", import.meta.url);
const load = (file) => import(new URL(file, VENDOR));
const own = (name, act = (module) => module[name]()) => async () => act(await load(`lang-${name}/index.js`));
const stream = (file, name = file) => async () => StreamLanguage.define((await load(`legacy-modes/${file}.js`))[name]);
const script = (options) => own("javascript", (module) => module.javascript(options));

const BY_ENDING = {
  "js mjs cjs": script({}),
  jsx: script({ jsx: true }),
  "ts mts cts": script({ typescript: true }),
  tsx: script({ jsx: true, typescript: true }),
  "py pyi pyw": own("python"),
  "html htm xhtml": own("html"),
  css: own("css"),
  scss: own("sass"),
  sass: own("sass", (module) => module.sass({ indented: true })),
  less: own("less"),
  "json jsonc json5 webmanifest ipynb": own("json"),
  "md markdown mdx": own("markdown"),
  rs: own("rust"),
  "c h cc cpp cxx hpp hh ino": own("cpp"),
  java: own("java"),
  "php phtml": own("php"),
  sql: own("sql"),
  "xml svg xsd xsl rss plist": own("xml"),
  "yaml yml": own("yaml"),
  go: own("go"),
  vue: own("vue"),
  "sh bash zsh ksh bats": stream("shell"),
  "rb rake gemspec": stream("ruby"),
  swift: stream("swift"),
  cs: stream("clike", "csharp"),
  "kt kts": stream("clike", "kotlin"),
  "scala sc": stream("clike", "scala"),
  dart: stream("clike", "dart"),
  "m mm": stream("clike", "objectiveC"),
  toml: stream("toml"),
  lua: stream("lua"),
  "pl pm": stream("perl"),
  r: stream("r"),
  hs: stream("haskell"),
  "clj cljs cljc edn": stream("clojure"),
  "ps1 psm1": stream("powershell", "powerShell"),
  "diff patch": stream("diff"),
  cmake: stream("cmake"),
  proto: stream("protobuf"),
  "groovy gradle": stream("groovy"),
  erl: stream("erlang"),
  jl: stream("julia"),
  "ml mli": stream("mllike", "oCaml"),
  "fs fsx": stream("mllike", "fSharp"),
  elm: stream("elm"),
  "tex sty": stream("stex"),
  "ini cfg conf properties env": stream("properties"),
  "lisp cl el": stream("commonlisp", "commonLisp"),
  scm: stream("scheme"),
  tcl: stream("tcl"),
  "vb bas": stream("vb"),
  "v sv": stream("verilog"),
  vhd: stream("vhdl"),
  "pas pp": stream("pascal"),
};
const BY_NAME = [
  [/^(.*\.)?dockerfile(\..*)?$/, stream("dockerfile", "dockerFile")],
  [/^(gnu)?makefile$|\.mk$|^\.(bash\w*|profile|zshrc)$/, stream("shell")],
  [/^(gem|rake|pod|vagrant)file$/, stream("ruby")],
  [/^cmakelists\.txt$/, stream("cmake")],
  [/^nginx.*\.conf$/, stream("nginx")],
  [/^(\.env.*|\.editorconfig|\.gitconfig|\.npmrc)$/, stream("properties")],
  [/^(\.babelrc|\.eslintrc|\.prettierrc|composer\.lock)$/, own("json")],
  [/^(cargo|poetry|uv)\.lock$|^pipfile$/, stream("toml")],
];
const endings = Object.entries(BY_ENDING).flatMap(([names, found]) => names.split(" ").map((name) => [name, found]));
const byEnding = new Map(endings);

// An extension of the editor; null for a text that has none.
export async function languageOf(path) {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const found = BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ?? byEnding.get(name.slice(name.lastIndexOf(".") + 1));
  return found ? found().catch(() => null) : null;
}
