"""The words of a shell command, read from its syntax tree: as written, as meant, as far as known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tree_sitter import Node

_PLAIN = re.compile(r"[\w@%+=:,./~^-]+")
_EXPANDS = re.compile(r"[*?\[{]")
_ESCAPE = re.compile(r"\\(?:\n|(.))", re.DOTALL)
_QUOTED_ESCAPE = re.compile(r'\\(?:\n|([$`"\\]))')

_NOT_WORDS = {"variable_assignment", "file_redirect", "herestring_redirect", "heredoc_redirect", "comment"}


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command.

    `raw` is as written; `text` without its quotes (expansions stay as written); `dynamic` says that the
    shell makes something else of it (expansion, glob, braces); `known` is the beginning that is known
    before running, with `~` and known variables filled in, and is all of it when `whole`.
    """

    raw: str
    text: str
    dynamic: bool
    known: str
    whole: bool

    @property
    def shown(self) -> str:
        """For matching: quotes that hide nothing but a plain word are dropped."""
        return self.text if not self.dynamic and _PLAIN.fullmatch(self.text) else self.raw


def literal(text: str) -> Word:
    """A word that says what it says."""
    return Word(raw=text, text=text, dynamic=False, known=text, whole=True)


def source(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def read_word(node: Node, variables: Mapping[str, str]) -> Word:
    """The word at `node`; `variables` are the values known where it stands."""
    text, known, dynamic, whole = "", "", False, True
    for piece, value, expands in _pieces(node, variables):
        dynamic |= expands
        if value is None:
            whole = False
        elif whole:
            known += value
        text += piece
    raw = source(node)
    if raw.startswith("~"):
        known = _with_home(known)
    return Word(raw=raw, text=text, dynamic=dynamic, known=known, whole=whole)


def command_words(node: Node, variables: Mapping[str, str]) -> list[Word]:
    """Name and arguments of a command's node, without its assignments and redirections."""
    if node.type != "command":
        name = literal(source(node).split(None, 1)[0])
        return [name, *(read_word(child, variables) for child in node.named_children)]
    redirects = {child.id for child in node.children_by_field_name("redirect")}
    nodes = [child for child in node.named_children if child.id not in redirects]
    return [read_word(child, variables) for child in nodes if child.type not in _NOT_WORDS]


def late_words(redirects: Sequence[Node], variables: Mapping[str, str]) -> list[Word]:
    """Arguments that stand after a redirection; the grammar hangs them on it: `rm > log x`."""
    words: list[Word] = []
    for redirect in redirects:
        nodes = redirect.children_by_field_name("argument")
        nodes += redirect.children_by_field_name("destination")[1:]
        words += [read_word(node, variables) for node in nodes]
        words += late_words(redirect.children_by_field_name("redirect"), variables)
    return words


def _pieces(node: Node, variables: Mapping[str, str]) -> Iterator[tuple[str, str | None, bool]]:
    """(text, value or None when unknown, whether the shell changes it) for each run of the word."""
    match node.type:
        case "command_name" | "concatenation" | "variable_assignment":
            for child in node.children:
                yield from _pieces(child, variables)
        case "string":
            yield from _quoted(node, variables)
        case "raw_string":
            yield source(node)[1:-1], source(node)[1:-1], False
        case "ansi_c_string" if "\\" not in source(node):
            yield source(node)[2:-1], source(node)[2:-1], False
        case "word" | "number" | "variable_name" | "=" | "+=" if not _EXPANDS.search(source(node)):
            plain = _ESCAPE.sub(r"\1", source(node))
            yield plain, plain, False
        case "word" | "extglob_pattern":
            plain = _ESCAPE.sub(r"\1", source(node))
            start = _EXPANDS.search(plain)
            yield plain, plain[: start.start()] if start else plain, True
            yield "", None, True
        case "simple_expansion" | "expansion":
            # The node of an expansion may begin with the blanks before it.
            written = source(node)
            name = written.lstrip()
            value = variables.get(name.strip("${}"))
            yield written, None if value is None else written.removesuffix(name) + value, True
        case _:
            yield source(node), None, True


def _quoted(node: Node, variables: Mapping[str, str]) -> Iterator[tuple[str, str | None, bool]]:
    # Blanks between two expansions have no node of their own, so the bytes between the nodes count too.
    data, at = node.text or b"", node.start_byte + 1
    for child in [child for child in node.named_children if child.type != "string_content"]:
        yield _between(data, at - node.start_byte, child.start_byte - node.start_byte)
        yield from _pieces(child, variables)
        at = child.end_byte
    yield _between(data, at - node.start_byte, len(data) - 1)


def _between(data: bytes, start: int, end: int) -> tuple[str, str, bool]:
    text = _QUOTED_ESCAPE.sub(r"\1", data[start:end].decode("utf-8", "replace"))
    return text, text, False


def _with_home(path: str) -> str:
    try:
        return str(Path(path).expanduser())
    except RuntimeError:  # no such user
        return path
