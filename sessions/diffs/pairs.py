"""Which deleted line became which added one, inside one block of changes.

Lines are paired in order by the words they share, so that word marks and the split view set like beside like.
The work is bounded: a block too large to be compared line with line has no pairs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

Pairs = tuple[tuple[int, int], ...]
"""(deleted line, added line), counted from 0 in the block; both numbers rise."""

SMALL = 1600
"""Deleted lines x added lines up to which each is compared with each."""
_TALLEST = 100  # lines of either side of such a block
_ALIKE = 0.5  # share of common words from which two lines belong together
_LONGEST = 500  # characters of a line that are looked at
_WORD = re.compile(rb"\w+|[^\w\s]")


def is_small(deleted: int, added: int) -> bool:
    """Whether the lines of a block of this size are compared with each other."""
    return 0 < deleted * added <= SMALL and max(deleted, added) <= _TALLEST


def pairs(deleted: Sequence[bytes], added: Sequence[bytes]) -> Pairs:
    """The pairs of a block. A line that took the place of a single one is its pair, like it or not."""
    if not is_small(len(deleted), len(added)):
        return ()
    if len(deleted) == len(added) == 1:
        return ((0, 0),)
    olds, news = [_words(line) for line in deleted], [_words(line) for line in added]
    return _best([[_likeness(old, new) for new in news] for old in olds])


def _words(line: bytes) -> Counter[bytes]:
    return Counter(_WORD.findall(line[:_LONGEST]))


def _likeness(old: Counter[bytes], new: Counter[bytes]) -> float:
    """Words in common as a share of both lines' (Dice); 0 for lines that do not belong together."""
    total = old.total() + new.total()
    if not total:
        return 1.0  # both are white space
    few, many = (old, new) if len(old) <= len(new) else (new, old)
    share = 2 * sum(min(count, many[word]) for word, count in few.items() if word in many) / total
    return share if share >= _ALIKE else 0.0


def _best(likeness: list[list[float]]) -> Pairs:
    """The pairs in rising order whose likeness comes to most (the longest common subsequence, weighted)."""
    width = len(likeness[0])
    best = [[0.0] * (width + 1)]
    for row in likeness:
        above, here = best[-1], [0.0]
        for j, share in enumerate(row):
            here.append(max(above[j + 1], here[j], above[j] + share if share else 0.0))
        best.append(here)
    found: list[tuple[int, int]] = []
    i, j = len(likeness), width
    while i and j:
        if best[i][j] == best[i - 1][j]:
            i -= 1
        elif best[i][j] == best[i][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            found.append((i, j))
    return tuple(found[::-1])
