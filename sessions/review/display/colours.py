"""The lines of a diff's two sides in syntax colours, line by line, so that marks can be laid over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from django.utils.html import escape
from pygments.token import STANDARD_TYPES, _TokenType

from sessions.diffs.hunks import FileDiff
from sessions.diffs.words import Marks
from sessions.rendering.highlight import lexer_for_file
from sessions.rendering.text import visible

Pieces = tuple[tuple[str, str], ...]
"""A line cut into (CSS class, text); the texts together are the line."""

WHOLE = 24 * 1024
"""Characters of a file up to which it is read as a whole; of a longer one only the lines shown are, which may
miss that they lie inside of a long comment or string."""


def coloured(
    diff: FileDiff, side: Literal["old", "new"], name: str, content: str | None
) -> Mapping[int, Pieces]:
    """Pieces by line number for a side of a diff; `content` is that side's whole file where it is known."""
    if content is not None and len(content) <= WHOLE:
        return dict(enumerate(_pieces(content, name), 1))
    found: dict[int, Pieces] = {}
    for hunk in diff.hunks:
        rows = [(row.old if side == "old" else row.new, row.text) for row in hunk.rows]
        numbers = [number for number, _ in rows if number is not None]
        text = "\n".join(text for number, text in rows if number is not None)
        if len(text) <= WHOLE:
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


@lru_cache(maxsize=256)
def _pieces(text: str, name: str) -> Sequence[Pieces]:
    lexer = lexer_for_file(name)
    if lexer is None:
        return ()
    lines: list[list[tuple[str, str]]] = [[]]
    for kind, value in lexer.get_tokens(text):
        first, *others = value.split("\n")
        css = _css(kind)
        lines[-1].append((css, first))
        for part in others:
            lines.append([(css, part)])
    return [tuple(line) for line in lines]


def _css(kind: _TokenType) -> str:
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    return str(STANDARD_TYPES.get(kind, ""))
