"""What a terminal has printed lately: a bounded text with absolute positions.

Positions count UTF-16 code units from the terminal's first one on, since clients add up the lengths of
JavaScript strings.
"""

from __future__ import annotations

LIMIT = 1024 * 1024
"""Code units that are kept: 2 MiB."""
_SIZE = 2
"""Bytes of one."""


class Backlog:
    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._units = bytearray()
        self.start = 0
        """The position of the oldest unit that is kept."""

    @property
    def end(self) -> int:
        return self.start + len(self._units) // _SIZE

    def append(self, text: str) -> None:
        """Add what was printed; the oldest goes when there is too much."""
        self._units += text.encode("utf-16-le", "replace")
        excess = self.end - self.start - self._limit
        if excess > 0:
            excess += self._splits(excess)
            del self._units[: excess * _SIZE]
            self.start += excess

    def read(self, position: int, most: int) -> tuple[str, int]:
        """At most `most` units from a position on, and the position after them; from the oldest kept when
        the position is older. A pair of surrogates is not split."""
        begin = max(position, self.start) - self.start
        end = min(begin + max(most, _SIZE), len(self._units) // _SIZE)
        end -= self._splits(end)
        units = self._units[begin * _SIZE : end * _SIZE]
        return units.decode("utf-16-le", "replace"), self.start + max(begin, end)

    def _splits(self, at: int) -> bool:
        """Whether the unit at a place is the second of a pair."""
        high = self._units[at * _SIZE + 1 : at * _SIZE + 2]
        return bool(high) and 0xDC <= high[0] <= 0xDF
