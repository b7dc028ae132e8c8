"""Which names a few letters mean, the best first, found in one text of all names.

Names lie in the text by length, so that within one kind of match the first that are found are the best, and
a search that finds many ends early. No name has a NUL byte: it parts them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from heapq import nsmallest
from itertools import accumulate, chain

MOST = 200
"""More are never asked for."""

_RARE = 8
"""A letter that is in the text less often than once in so many items: only those with it are looked at."""


class Names:
    """Paths that can be searched; a folder's ends with a slash."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.paths = sorted(paths, key=lambda path: (len(path), path))

    def best(self, query: str, limit: int) -> list[str]:
        """Paths whose letters contain those of `query` in order: matches in a file's own name before matches
        in its folders, contiguous before scattered, short before long. No query: those at the top first."""
        wanted = query.lower().strip().replace(" ", "")
        if not wanted:
            return self._top[:limit]
        if "\0" in wanted:
            return []
        found: dict[int, None] = {}
        for index in chain(
            self._names.containing(f"\0{wanted}"),
            self._names.containing(wanted),
            self._whole.containing(wanted),
            self._whole.in_order(wanted),
        ):
            found[index] = None
            if len(found) >= limit:
                break
        return [self.paths[index] for index in found]

    @cached_property
    def _top(self) -> list[str]:
        return nsmallest(MOST, self.paths, key=lambda path: (path.count("/"), path))

    @cached_property
    def _whole(self) -> _Text:
        return _Text([path.lower() for path in self.paths])

    @cached_property
    def _names(self) -> _Text:
        return _Text([path.rstrip("/").rpartition("/")[2].lower() for path in self.paths])


class _Text:
    def __init__(self, items: Sequence[str]) -> None:
        self._text = "\0".join(("", *items, ""))
        self._counts: dict[str, int] = {}
        self._starts = list(accumulate((len(item) + 1 for item in items), initial=1))

    def containing(self, wanted: str) -> Iterator[int]:
        """The numbers of items that contain a text, each once; a NUL stands for where an item begins."""
        at = self._text.find(wanted)
        while at >= 0:
            index = bisect_right(self._starts, at + wanted.startswith("\0")) - 1
            yield index
            at = self._text.find(wanted, self._starts[index + 1] - 1)

    def in_order(self, wanted: str) -> Iterator[int]:
        """The numbers of items that have the letters of a text in their order.

        Possessive, so that a letter is looked for once: no item makes this slower than its length.
        """
        letters = [re.escape(letter) for letter in wanted]
        pattern = re.compile("\0" + "".join(f"[^{letter}\0]*+{letter}" for letter in letters))
        rarest = min(wanted, key=self._count)
        if self._count(rarest) < len(self._starts) // _RARE:
            for index in self.containing(rarest):
                if pattern.match(self._text, self._starts[index] - 1):
                    yield index
            return
        for match in pattern.finditer(self._text):
            yield bisect_right(self._starts, match.start() + 1) - 1

    def _count(self, letter: str) -> int:
        if letter not in self._counts:
            self._counts[letter] = self._text.count(letter)
        return self._counts[letter]


def rank(paths: Iterable[str], query: str, limit: int) -> list[str]:
    """The best of paths that are asked for once."""
    return Names(paths).best(query, limit)
