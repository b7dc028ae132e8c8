"""The words of a shell command, read from its syntax tree: as written, as meant, as far as known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from tree_sitter import Node

_PLAIN = re.compile(r"[\w@%+=:,./~^-]+")
_EXPANDS = re.compile(r"[*?\[{]")
_ESCAPE = re.compile(r"\\(?:\n|(.))", re.DOTALL)
_QUOTED_ESCAPE = re.compile(r'\\(?:\n|([$`"\\]))')

_BRACES = re.compile(r"[\w@%+=:,./^-]*\{[\w@%+=:,./^{}-]*\}[\w@%+=:,./^{}-]*")
_SEQUENCE = re.compile(r"(0|-?[1-9]\d*)\.\.(0|-?[1-9]\d*)")
_MAX_BRACES = 64
_ANSI_C = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.))",
    re.DOTALL,
)
_LETTERS = dict(zip("abeEfnrtv\\'\"?", "\a\b\x1b\x1b\f\n\r\t\v\\'\"?", strict=True))

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


def shape_of(word: Word) -> str:
    """A pattern of all that the word may become."""
    return word.shown if not word.dynamic else f"{word.known}*"


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


def expanded(node: Node, variables: Mapping[str, str]) -> list[Word]:
    """The words at `node`: several where it has braces of plain letters, as in `src/{a,b}.py`."""
    text = source(node)
    if (
        node.type in ("word", "concatenation", "command_name")
        and _BRACES.fullmatch(text)
        and text.count("{") < 10
    ):
        made = _braces(text)
        if made != [text] and len(made) <= _MAX_BRACES:
            return [literal(item) for item in made if item]
    return [read_word(node, variables)]


def command_words(node: Node, variables: Mapping[str, str]) -> list[Word]:
    """Name and arguments of a command's node, without its assignments and redirections."""
    if node.type != "command":
        name = literal(source(node).split(None, 1)[0])
        return [name, *chain.from_iterable(expanded(child, variables) for child in node.named_children)]
    redirects = {child.id for child in node.children_by_field_name("redirect")}
    nodes = [child for child in node.named_children if child.id not in redirects]
    nodes = [child for child in nodes if child.type not in _NOT_WORDS]
    return list(chain.from_iterable(expanded(child, variables) for child in nodes))


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
        case "ansi_c_string" if (meant := _ansi_c(source(node)[2:-1])) is not None:
            yield meant, meant, False
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


def _ansi_c(text: str) -> str | None:
    """What `$'text'` stands for (the bash manual, "ANSI-C Quoting"); None where that is not a text."""

    def meant(found: re.Match[str]) -> str:
        letter, octal, byte, short, long, _ = found.groups()
        if letter:
            return _LETTERS[letter]
        code = int(octal, 8) if octal else int(byte or short or long or "0", 16)
        limit = 0x7F if octal or byte else 0x10FFFF
        return chr(code) if code <= limit else "\0"

    made = _ANSI_C.sub(meant, text)
    return None if "\0" in made else made


def _braces(text: str) -> list[str]:
    """The words that bash makes of plain text with braces; the text alone where there are none to expand."""
    for start in (at for at, letter in enumerate(text) if letter == "{"):
        parts, end = _alternatives(text, start)
        if parts:
            tails = _braces(text[end:])
            made = [item for part in parts for item in _braces(part)]
            return [text[:start] + one + tail for one in made for tail in tails][: _MAX_BRACES + 1]
    return [text]


def _alternatives(text: str, start: int) -> tuple[list[str], int]:
    """What stands between the commas of the braces that open at `start`, and where they end."""
    depth, parts, begin = 0, [], start + 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if text[at] == "," and depth == 1:
            parts.append(text[begin:at])
            begin = at + 1
        if depth == 0:
            if parts:
                return [*parts, text[begin:at]], at + 1
            return _sequence(text[begin:at]), at + 1
    return [], start + 1


def _sequence(text: str) -> list[str]:
    found = _SEQUENCE.fullmatch(text)
    if not found or abs(int(found[2]) - int(found[1])) > _MAX_BRACES:
        return []
    first, last = int(found[1]), int(found[2])
    return [str(number) for number in range(first, last + 1)] or [
        str(number) for number in range(first, last - 1, -1)
    ]


def _with_home(path: str) -> str:
    try:
        return str(Path(path).expanduser())
    except RuntimeError:  # no such user
        return path
