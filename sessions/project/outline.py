"""What a file consists of, read from its text alone: classes, functions and methods of code, headings of
Markdown, keys of JSON, TOML and YAML.

A language server knows more; this is for where there is none, or none yet. Pygments says which words are
names and which are keywords; what is within what is told by how far lines are indented, or by the level of a
heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from markdown_it import MarkdownIt
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_for_filename
from pygments.token import Comment, Keyword, Name, String, Text, is_token_subtype
from pygments.token import _TokenType as TokenType
from pygments.util import ClassNotFound

from sessions.core.offload import NotDone, offload

LONGEST = 512 * 1024
"""Characters of a text that is read."""
MOST = 5000
_SMALL = 4 * 1024
"""Characters up to which a lexer with quadratic corners may run here (docs/decisions/0025)."""
_SECONDS = 3.0
_LONGEST_LINE = 300
"""Characters: what is longer was written by a program."""

Kind = Literal["class", "function", "method", "namespace", "heading", "key"]


@dataclass(frozen=True, slots=True)
class Symbol:
    """`line` and `column` are from 1; `container` is the name of what it is in, empty for none."""

    name: str
    kind: Kind
    line: int
    column: int
    container: str


@dataclass(frozen=True, slots=True)
class _Found:
    """`depth` is that of its line or level: what is deeper and comes next is within it."""

    name: str
    kind: Kind
    line: int
    column: int
    depth: int


def outline(text: str, path: str) -> list[Symbol]:
    """The symbols of a text whose file has this name, in their order; none where its language is not known,
    or the text is too much."""
    if len(text) > LONGEST:
        return []
    try:
        return [Symbol(*fields) for fields in _outline(text, PurePosixPath(path).name)]
    except NotDone:
        return []


@offload(over=_SMALL, seconds=_SECONDS)
def _outline(text: str, name: str) -> list[tuple[str, Kind, int, int, str]]:
    around: list[_Found] = []
    made: list[tuple[str, Kind, int, int, str]] = []
    for one in _found(text, name):
        while around and around[-1].depth >= one.depth:
            around.pop()
        container = around[-1] if around else None
        in_class = container is not None and container.kind == "class"
        if one.kind == "method" and not in_class:
            continue  # it only looks like one
        kind: Kind = "method" if one.kind == "function" and in_class else one.kind
        made.append((one.name, kind, one.line, one.column, container.name if container else ""))
        around.append(one)
        if len(made) == MOST:
            break
    return made


def _found(text: str, name: str) -> Iterator[_Found]:
    lexer = _lexer(name)
    if lexer is None:
        return iter(())
    kind = _FORMS.get(lexer.name, "")
    if kind == "headings":
        return _headings(text)
    if kind == "keys":
        return _keys(text, lexer)
    if kind == "tables":
        return _tables(text)
    return _definitions(text, lexer)


_FORMS = {"Markdown": "headings", "JSON": "keys", "YAML": "keys", "TOML": "tables"}


def _lexer(name: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


_MARKDOWN = MarkdownIt("commonmark")


def _headings(text: str) -> Iterator[_Found]:
    tokens = _MARKDOWN.parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open" and token.map:
            yield _Found(tokens[at + 1].content, "heading", token.map[0] + 1, 1, int(token.tag[1]))


def _keys(text: str, lexer: Lexer) -> Iterator[_Found]:
    """Of JSON by brackets, of YAML by columns."""
    depth = 0
    places = _Places(text)
    for offset, kind, value in lexer.get_tokens_unprocessed(text):
        if _is(kind, Name.Tag):
            line, column = places.of(offset)
            level = depth if lexer.name == "JSON" else column
            yield _Found(value.strip("\"' "), "key", line, column, level)
        elif lexer.name == "JSON" and not _is(kind, String):
            depth += sum(map(value.count, "{[")) - sum(map(value.count, "}]"))


_TABLE = re.compile(r"\s*\[{1,2}([^\[\]]+)\]{1,2}\s*(?:#.*)?")
_ENTRY = re.compile(r"\s*([\w.\"'-]+)\s*=")


def _tables(text: str) -> Iterator[_Found]:
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) > _LONGEST_LINE:
            continue
        if table := _TABLE.fullmatch(line):
            yield _Found(table[1].strip(), "namespace", number, 1, 0)
        elif entry := _ENTRY.match(line):
            yield _Found(entry[1], "key", number, entry.start(1) + 1, 1)


_DECLARES: dict[str, Kind] = {
    **dict.fromkeys(("class", "struct", "interface", "enum", "trait", "type", "impl", "object"), "class"),
    **dict.fromkeys(("protocol", "extension", "record", "union", "mixin"), "class"),
    **dict.fromkeys(("function", "func", "fn", "fun", "def", "sub", "macro_rules!"), "function"),
    **dict.fromkeys(("namespace", "module", "mod"), "namespace"),
}  # fmt: skip
"""Words after which a name is defined, and what it then is."""
_IMPLEMENTED = re.compile(r"\bfor\s+(\w+)")
"""Of Rust: for what a trait is implemented."""
_QUALIFIED = re.compile(r"[.:]\w")
"""`M.act`, `self.act`: the last one is the name."""
_TYPES_IN_C = ("struct", "union", "enum", "class")
"""Words that in C also say of what type a thing is."""
_UNNAMED = {"if", "for", "while", "switch", "catch", "return", "function", "with", "await", "else", "do"}
_METHOD = re.compile(r"\s+(?:[a-z]+ ){0,4}\*?([\w$#]+)(?:<[^()<>]*>)?\([^;]*\{")
"""Of JavaScript, in a class."""
_BOUND = re.compile(
    r"\s*(?:export )?(?:default )?(?:const|let|var) ([\w$]+)(?:\s*:[^=]*)?\s*=\s*(?:async\s*)?"
    r"(?:function\b|\([^()]*\)[^=()]*=>|[\w$]+\s*=>|\($)"
)
"""A function that JavaScript gives a name by an assignment."""
_SHELL = re.compile(r"\s*(?:function\s+)?([\w:.-]+)\s*\(\)|\s*function\s+([\w:.-]+)")


def _definitions(text: str, lexer: Lexer) -> Iterator[_Found]:
    lines = text.split("\n")
    script = lexer.name in ("JavaScript", "TypeScript", "TSX", "JSX")
    by_token = {one.line: one for one in reversed([*_tokens(text, lines, lexer)])}
    for number, line in enumerate(lines, start=1):
        if number in by_token:
            yield by_token[number]
        elif len(line) <= _LONGEST_LINE and (named := _by_line(line, script, lexer.name)):
            name, kind = named
            yield _Found(name, kind, number, line.index(name) + 1, _indent(line))


def _by_line(line: str, script: bool, language: str) -> tuple[str, Kind] | None:
    """What only the form of a line tells."""
    if script and (method := _METHOD.match(line)) and method[1] not in _UNNAMED:
        return method[1], "method"
    if script and (bound := _BOUND.match(line)):
        return bound[1], "function"
    if language == "Bash" and (named := _SHELL.match(line)):
        return named[1] or named[2], "function"
    return None


def _tokens(text: str, lines: list[str], lexer: Lexer) -> Iterator[_Found]:
    """By what the lexer says; several of one line as they come."""
    places = _Places(text)
    before, declares, brackets = "", "", 0
    for offset, kind, value in lexer.get_tokens_unprocessed(text):
        word = value.strip()
        if not word or _is(kind, Comment, String, Text):
            declares = "" if "\n" in value else declares
            continue
        if brackets or (declares and word in ("(", "<") and not _is(kind, Name)):
            # The receiver of a method in Go, the parameters of an `impl` in Rust.
            brackets += (word in ("(", "<")) - (word in (")", ">"))
        elif word in _DECLARES and before != "." and _is(kind, Keyword, Name):
            declares = word
        elif _is(kind, Name) and not (declares and _QUALIFIED.match(text, offset + len(value))):
            line, column = places.of(offset)
            source = lines[line - 1]
            if defined := _defined(kind, declares, source, lexer.name):
                implemented = _IMPLEMENTED.search(source) if declares == "impl" else None
                name = implemented[1] if implemented else word
                yield _Found(name, defined, line, column, _indent(source))
            declares = ""
        elif not _is(kind, Keyword, Name):
            declares = ""
        before = word


def _defined(kind: TokenType, declares: str, line: str, language: str) -> Kind | None:
    """What a name is that stands after the word `declares`, None where it defines nothing."""
    if declares:
        is_type_of = language in ("C", "C++") and declares in _TYPES_IN_C and "{" not in line
        return None if is_type_of and line.rstrip()[-1:] in ";)," else _DECLARES[declares]
    return "function" if _is(kind, Name.Function) and not _is(kind, Name.Function.Magic) else None


def _is(kind: TokenType, *of: TokenType) -> bool:
    return any(is_token_subtype(kind, one) for one in of)


def _indent(line: str) -> int:
    whole = line.expandtabs(4)
    return len(whole) - len(whole.lstrip())


class _Places:
    """Lines and columns of offsets, which only rise."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._line, self._start = 1, 0

    def of(self, offset: int) -> tuple[int, int]:
        """From 1."""
        while 0 <= (end := self._text.find("\n", self._start)) < offset:
            self._line += 1
            self._start = end + 1
        return self._line, offset - self._start + 1
