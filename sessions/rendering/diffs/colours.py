"""The lines of a diff's two sides in syntax colours, line by line, so that marks can be laid over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from django.utils.html import escape
from pygments.token import STANDARD_TYPES, _TokenType

from sessions.changes.diffs.hunks import Marks, Row
from sessions.core.bounded import LRU
from sessions.core.offload import NotDone, offload
from sessions.core.text import visible
from sessions.rendering.highlight import SECONDS, SMALL, lexer_for_file

Pieces = tuple[tuple[str, str], ...]
"""A line cut into (CSS class, text); the texts together are the line."""
Lines = Mapping[int, Pieces]

WHOLE = 128 * 1024
"""Characters of a file up to which it is read from its start, once for all that is shown of it; of a longer
one only the lines shown are, which may miss that they lie inside of a long comment or string."""
MOST = 24 * 1024
"""Characters of the lines shown; more have no colours. A lexer costs up to 10 µs a character."""

_kept: LRU[Sequence[Pieces]] = LRU(3 * WHOLE)
"""Both sides of a long file, and some short ones. The pieces take some thirty times as much as the text."""


def coloured(rows: Sequence[Row], name: str, before: str | None, after: str | None) -> tuple[Lines, Lines]:
    """Pieces by line number, for the deleted rows and for the others; `before` and `after` are the whole
    contents where they are known."""
    new = {row.new or 0: row.text for row in rows if row.kind != "del"}
    shown = _whole(new, name, after) or _runs(new, name)
    if all(row.kind != "del" for row in rows):
        return {}, shown
    old = {row.old or 0: row.text for row in rows if row.kind != "add"}
    return _whole(old, name, before) or _runs(old, name), shown


def _whole(lines: Mapping[int, str], name: str, content: str | None) -> Lines:
    if content is None or len(content) > WHOLE or not lines:
        return {}
    pieces = _pieces(content, name)
    return {number: pieces[number - 1] for number in lines if number <= len(pieces)}


def _runs(lines: Mapping[int, str], name: str) -> Lines:
    """Lines that follow each other are read together."""
    if sum(map(len, lines.values())) > MOST:
        return {}
    found: dict[int, Pieces] = {}
    for _, run in groupby(enumerate(lines), lambda pair: pair[1] - pair[0]):
        numbers = [number for _, number in run]
        text = "\n".join(lines[number] for number in numbers)
        found.update(zip(numbers, _pieces(text, name), strict=False))
    return found


def line_html(text: str, pieces: Pieces | None, marks: Marks) -> str:
    """Safe HTML of one line; pieces that are not of this text are left aside."""
    if pieces is None or "".join(piece for _, piece in pieces) != text:
        pieces = (("", text),)
    if not marks:
        return "".join(_span(css, piece) for css, piece in pieces)
    return "".join(_with_marks(pieces, marks))


def _with_marks(pieces: Pieces, marks: Marks) -> Iterator[str]:
    at = 0
    for css, piece in pieces:
        end = at + len(piece)
        for start, stop in [span for span in marks if span[0] < end and span[1] > at]:
            yield _span(css, piece[: max(start - at, 0)])
            yield f"<mark>{_span(css, piece[max(start - at, 0) : stop - at])}</mark>"
            piece, at = piece[stop - at :], min(stop, end)
        yield _span(css, piece)
        at = end


def _span(css: str, text: str) -> str:
    if not text:
        return ""
    safe = escape(visible(text))
    return f'<span class="{css}">{safe}</span>' if css else safe


def _pieces(text: str, name: str) -> Sequence[Pieces]:
    """The lines of a text; none where the lexer came to nothing."""
    return _kept.get((name, text), partial(_found, text, name))


def _found(text: str, name: str) -> tuple[Sequence[Pieces], int]:
    try:
        return [tuple((css, piece) for css, piece in line) for line in _lexed(text, name)], len(text)
    except NotDone:
        return (), len(text)


@offload(over=SMALL, seconds=SECONDS)
def _lexed(text: str, name: str) -> list[list[tuple[str, str]]]:
    lexer = lexer_for_file(name)
    if lexer is None:
        return []
    lines: list[list[tuple[str, str]]] = [[]]
    for kind, value in lexer.get_tokens(text):
        first, *others = value.split("\n")
        css = _css(kind)
        lines[-1].append((css, first))
        lines += [[(css, part)] for part in others]
    return lines


def _css(kind: _TokenType) -> str:
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    return str(STANDARD_TYPES.get(kind, ""))
