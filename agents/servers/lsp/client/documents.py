"""The files a language server holds open: what it was last told that they hold."""

from __future__ import annotations

import itertools
import re
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.servers.lsp.client.abilities import Abilities
from agents.servers.lsp.client.encoding import length, lines, uri_of
from agents.servers.lsp.types import Failed
from sessions.core.sentences import Sentence

MOST_OPEN = 100
"""Of more, those used longest ago are closed."""
MOST_VERSIONS = 100
"""Of a document, that are remembered."""
MAX_BYTES = 8 * 1024 * 1024
_ENDS = re.compile(r"(?<=\n)|(?<=\r)(?!\n)")

Notify = Callable[[str, Any], None]


@dataclass(slots=True)
class Document:
    """`content` is what the text was made of. `told` is when the server was told of this version, `used` when
    somebody wanted to know of it: times of `time.monotonic`. `before` are the last versions it was told of
    earlier, with when."""

    path: Path
    uri: str
    content: bytes
    text: str
    version: int
    told: float = field(default_factory=time.monotonic)
    used: float = field(default_factory=time.monotonic)
    before: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=MOST_VERSIONS))


class Documents:
    """Versions grow over all documents of a server, so that none is given twice."""

    def __init__(self, notify: Notify, abilities: Abilities) -> None:
        self._notify = notify
        self._abilities = abilities
        self._open: dict[Path, Document] = {}
        self._versions = itertools.count(1)

    def get(self, path: Path) -> Document | None:
        return self._open.get(path)

    def latest(self) -> list[Document]:
        """All that are open, the one used last first."""
        return list(reversed(self._open.values()))

    def lines(self, path: Path) -> list[str] | None:
        """Of a file, open or on the disk; None when there is none to be read. It may block."""
        if document := self._open.get(path):
            return lines(document.text)
        with suppress(OSError):
            if path.stat().st_size <= MAX_BYTES:
                return lines(path.read_text("utf-8", "replace"))
        return None

    def put(self, path: Path, content: bytes) -> Document:
        """Tell the server what a file holds, unless it knows. Raises Failed for too much."""
        if len(content) > MAX_BYTES:
            raise Failed(
                Sentence("%(path)s has more than %(most)s bytes", path=path.name, most=f"{MAX_BYTES:,}")
            )
        document = self._open.pop(path, None)
        if document is None:
            document = self._opened(path, content)
        elif document.content != content:
            self._changed(document, content)
        document.used = time.monotonic()
        self._open[path] = document
        return document

    def saved(self, document: Document) -> None:
        """Tell a server that wants to know that the file holds this on the disk, too."""
        options = self._abilities.save_options()
        if options is not None:
            text = {"text": document.text} if options.get("includeText") else {}
            self._notify("textDocument/didSave", {"textDocument": {"uri": document.uri}, **text})

    def close(self, path: Path) -> bool:
        """Whether it was open."""
        document = self._open.pop(path, None)
        if document is not None and self._abilities.wants_open:
            self._notify("textDocument/didClose", {"textDocument": {"uri": document.uri}})
        return document is not None

    def spare(self, idle: float) -> list[Path]:
        """Those that are one too many, or were not used for so many seconds."""
        before = time.monotonic() - idle
        over = max(len(self._open) - MOST_OPEN, 0)
        return [
            path for at, (path, found) in enumerate(self._open.items()) if at < over or found.used < before
        ]

    def _opened(self, path: Path, content: bytes) -> Document:
        text = content.decode("utf-8", "replace")
        document = Document(path, uri_of(path), content, text, next(self._versions))
        if self._abilities.wants_open:
            item = {
                "uri": document.uri,
                "languageId": language_of(path),
                "version": document.version,
                "text": text,
            }
            self._notify("textDocument/didOpen", {"textDocument": item})
        return document

    def _changed(self, document: Document, content: bytes) -> None:
        text = content.decode("utf-8", "replace")
        change: dict[str, Any] = {"text": text}
        if self._abilities.incremental:
            change = difference(document.text, text, self._abilities.encoding)
        document.before.append((document.version, document.told))
        document.content, document.text, document.version = content, text, next(self._versions)
        document.told = time.monotonic()
        if self._abilities.wants_changes:
            identity = {"uri": document.uri, "version": document.version}
            params = {"textDocument": identity, "contentChanges": [change]}
            self._notify("textDocument/didChange", params)


def difference(before: str, after: str, encoding: str) -> dict[str, Any]:
    """A TextDocumentContentChangeEvent that makes one text the other: the lines between those that are alike
    at the beginning and at the end."""
    old, new = _ENDS.split(before), _ENDS.split(after)
    fewest = min(len(old), len(new))
    head = _alike(old, new, fewest - 1)
    tail = _alike(old[::-1], new[::-1], fewest - head)
    end = {"line": len(old) - tail, "character": 0}
    if not tail:
        end = {"line": len(old) - 1, "character": length(old[-1], encoding)}
    changed = {"start": {"line": head, "character": 0}, "end": end}
    return {"range": changed, "text": "".join(new[head : len(new) - tail])}


def _alike(one: list[str], other: list[str], most: int) -> int:
    """How many of the first are equal."""
    pairs = zip(one[:most], other[:most], strict=True)
    return next((at for at, (left, right) in enumerate(pairs) if left != right), most)


# The language of a file as the protocol names it (LSP 3.17, "TextDocumentItem").

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
    **dict.fromkeys((".babelrc.json", ".eslintrc.json", "api-extractor.json", "devcontainer.json"), "jsonc"),
    **dict.fromkeys((".devcontainer.json", "opencode.json"), "jsonc"),
    ".bashrc": "shellscript",
    ".zshrc": "shellscript",
    ".profile": "shellscript",
    "commit_editmsg": "git-commit",
    "git-rebase-todo": "git-rebase",
}


_WITH_COMMENTS = re.compile(r"[jt]sconfig(\..+)?\.json")
"""Of these there are several in a project (`tsconfig.build.json`)."""


def language_of(path: Path) -> str:
    """The identifier by the file's name; `plaintext` for one that is not known."""
    name = path.name.lower()
    if _WITH_COMMENTS.fullmatch(name) or (path.parent.name == ".vscode" and name.endswith(".json")):
        return "jsonc"
    return _BY_NAME.get(name) or _BY_ENDING.get(name.rpartition(".")[2], "plaintext")
