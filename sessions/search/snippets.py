"""A piece of a text around what was found in it, cut into what is marked and what is not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from sessions.core.index.words import Term
from sessions.core.text import prose

WIDTH = 220
"""Characters."""
_BEFORE = 60
"""Of them, before the first mark."""
_LOOKED = 40
"""Places of a term that are looked at."""
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    marked: bool = False


Snippet = tuple[Piece, ...]
Span = tuple[int, int]


def snippet(text: str, terms: Sequence[Term]) -> Snippet:
    """On one line, from where most of the terms stand near to one another; the beginning of a text that has
    none. `…` stands for what is left out."""
    spans = sorted(
        (*span, number) for number, term in enumerate(terms) for span in islice(term.spans(text), _LOOKED)
    )
    first = max(spans, key=lambda one: (_near(spans, one[0]), -one[0]))[0] if spans else 0
    begin = _cut(text, max(0, first - _BEFORE)) if first > _BEFORE else 0
    end = min(len(text), begin + WIDTH)
    found = [Piece("…")] if begin else []
    found += _pieces(text, [(a, b) for a, b, _ in spans], begin, end)
    return (*found, Piece("…")) if end < len(text) else tuple(found)


def whole(text: str, terms: Sequence[Term]) -> Snippet:
    """All of a text, which is short, with its marks."""
    spans = sorted(span for term in terms for span in term.spans(text))
    return tuple(_pieces(text, spans, 0, len(text)))


def _near(spans: Sequence[tuple[int, int, int]], begin: int) -> int:
    """How many terms there are in a snippet that has its first mark there."""
    until = begin + WIDTH - _BEFORE
    return len({number for start, _, number in spans if begin <= start < until})


def _cut(text: str, at: int) -> int:
    """Where a word begins soon after a place, else that place."""
    space = _SPACE.search(text, at, at + _BEFORE // 2)
    return space.end() if space else at


def _pieces(text: str, spans: Sequence[Span], begin: int, end: int) -> list[Piece]:
    found: list[Piece] = []
    at = begin
    for start, stop in spans:
        if at <= start < end:
            found += [_piece(text[at:start]), _piece(text[start : min(stop, end)], marked=True)]
            at = min(stop, end)
    return [piece for piece in (*found, _piece(text[at:end])) if piece.text]


def _piece(text: str, *, marked: bool = False) -> Piece:
    return Piece(prose(_SPACE.sub(" ", text)), marked)
