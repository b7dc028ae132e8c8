"""How commits hang together, as lanes beside their list: one row a commit, the newest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Parents = tuple[str, Sequence[str]]
"""A commit and those before it."""


@dataclass(frozen=True, slots=True)
class Row:
    """The commit stands in `lane` (from 0). `above` are lines from the row before: from one of its lanes to
    one of this; `below` are the lanes from which lines go on."""

    lane: int
    above: tuple[tuple[int, int], ...]
    below: tuple[int, ...]

    @property
    def width(self) -> int:
        """How many lanes it takes."""
        return 1 + max((self.lane, *self.below, *(lane for line in self.above for lane in line)))


def graph(commits: Iterable[Parents]) -> Iterator[Row]:
    """A commit after its parents, as clocks that are wrong make it, has no line to them."""
    lanes: dict[str, int] = {}  # by the commit that a lane leads to
    lines: list[tuple[int, str]] = []  # from the lane of the row before to that commit
    shown: set[str] = set()
    for commit, parents in commits:
        lane = lanes.setdefault(commit, _free(lanes))
        above = sorted({(origin, lanes[target]) for origin, target in lines})
        del lanes[commit]
        shown.add(commit)
        lines = [(through, target) for target, through in lanes.items()]
        for parent in dict.fromkeys(parents):
            if parent in shown:
                continue
            if parent not in lanes:
                lanes[parent] = _free(lanes) if lane in lanes.values() else lane
            elif lane < lanes[parent] and lane not in lanes.values():
                lanes[parent] = lane  # as far to the left as one of its children
            lines.append((lane, parent))
        yield Row(lane, tuple(above), tuple(sorted({origin for origin, _ in lines})))


def _free(lanes: dict[str, int]) -> int:
    taken = set(lanes.values())
    return next(lane for lane in range(len(taken) + 1) if lane not in taken)
