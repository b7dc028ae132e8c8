"""Which words differ between a line and the line that took its place."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

Marks = tuple[tuple[int, int], ...]
"""Stretches of characters, [start, end)."""

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST = 500  # characters of a line; longer ones get no marks
_ALIKE = 0.4  # below this share of common words the whole line is new, and marks would be noise


@lru_cache(maxsize=2048)  # each line of a pair asks for its own marks
def word_marks(before: str, after: str) -> tuple[Marks, Marks]:
    """What to mark in `before` and in `after`; nothing where the lines are too long or too unlike."""
    if max(len(before), len(after)) >= _LONGEST:
        return (), ()
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.quick_ratio() < _ALIKE or matcher.ratio() < _ALIKE:
        return (), ()
    changed = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    return (
        _marks(old, [(i1, i2) for _, i1, i2, _, _ in changed]),
        _marks(new, [(j1, j2) for _, _, _, j1, j2 in changed]),
    )


def _marks(tokens: list[str], spans: list[tuple[int, int]]) -> Marks:
    starts = [0]
    for token in tokens:
        starts.append(starts[-1] + len(token))
    return tuple((starts[first], starts[last]) for first, last in spans if first < last)
