"""The language of a file as the protocol names it (LSP 3.17, "TextDocumentItem")."""

from __future__ import annotations

from pathlib import Path

_SAME = (
    "abap astro bat bibtex c clojure cpp css dart diff dockerfile elm fsharp gleam go graphql groovy haml "
    "html ini java json json5 jsonc julia latex less lua nix php prisma proto pug r razor rust sass scala "
    "scss sql svelte swift tcl toml typst vue xml xsl yaml zig"
)
_BY_ENDING = {
    **{name: name for name in _SAME.split()},
    **dict.fromkeys(("h", "m"), "c"),
    **dict.fromkeys(("cc", "cxx", "c++", "hh", "hpp", "hxx", "h++", "ino", "cu"), "cpp"),
    **dict.fromkeys(("js", "cjs", "mjs", "es6"), "javascript"),
    **dict.fromkeys(("ts", "cts", "mts"), "typescript"),
    **dict.fromkeys(("py", "pyi", "pyw"), "python"),
    **dict.fromkeys(("rb", "rake", "gemspec", "ru"), "ruby"),
    **dict.fromkeys(("sh", "bash", "zsh", "ksh", "bats"), "shellscript"),
    **dict.fromkeys(("kt", "kts"), "kotlin"),
    **dict.fromkeys(("ex", "exs"), "elixir"),
    **dict.fromkeys(("fs", "fsi", "fsx", "fsscript"), "fsharp"),
    **dict.fromkeys(("ml", "mli"), "ocaml"),
    **dict.fromkeys(("hs", "lhs"), "haskell"),
    **dict.fromkeys(("clj", "cljs", "cljc", "edn"), "clojure"),
    **dict.fromkeys(("md", "markdown", "mdx"), "markdown"),
    **dict.fromkeys(("yml", "yaml"), "yaml"),
    **dict.fromkeys(("htm", "html", "xhtml"), "html"),
    **dict.fromkeys(("pl", "pm"), "perl"),
    **dict.fromkeys(("tf", "tfvars"), "terraform"),
    **dict.fromkeys(("cshtml", "razor"), "razor"),
    **dict.fromkeys(("zig", "zon"), "zig"),
    **dict.fromkeys(("patch", "diff"), "diff"),
    **dict.fromkeys(("cmd", "bat"), "bat"),
    **dict.fromkeys(("ps1", "psm1", "psd1"), "powershell"),
    **dict.fromkeys(("erl", "hrl"), "erlang"),
    "mm": "objective-cpp",
    "jsx": "javascriptreact",
    "tsx": "typescriptreact",
    "rs": "rust",
    "cs": "csharp",
    "csx": "csharp",
    "vb": "vb",
    "jl": "julia",
    "tex": "latex",
    "bib": "bibtex",
    "txt": "plaintext",
    "typ": "typst",
    "gql": "graphql",
    "mk": "makefile",
    "hcl": "hcl",
    "ejs": "html",
    "erb": "erb",
    "hbs": "handlebars",
    "coffee": "coffeescript",
    "eex": "eelixir",
    "heex": "phoenix-heex",
    "webmanifest": "json",
}
_BY_NAME = {
    "dockerfile": "dockerfile",
    "containerfile": "dockerfile",
    "makefile": "makefile",
    "gnumakefile": "makefile",
    "gemfile": "ruby",
    "rakefile": "ruby",
    "go.mod": "go.mod",
    "go.sum": "go.sum",
    "go.work": "go.work",
    "tsconfig.json": "jsonc",
    "jsconfig.json": "jsonc",
    ".bashrc": "shellscript",
    ".zshrc": "shellscript",
    ".profile": "shellscript",
    "commit_editmsg": "git-commit",
    "git-rebase-todo": "git-rebase",
}


def language_of(path: Path) -> str:
    """The identifier by the file's name; `plaintext` for one that is not known."""
    name = path.name.lower()
    return _BY_NAME.get(name) or _BY_ENDING.get(name.rpartition(".")[2], "plaintext")
