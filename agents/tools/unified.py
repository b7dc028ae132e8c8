"""The unified diff of a change that a tool proposes, as the permission dialog and the card show it.

Equal lines at both ends are set aside first, so a small edit of a huge file costs little.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import takewhile

CONTEXT = 3
MAX_LINES = 20_000
"""Changed lines (before and after together) above which only their numbers are told."""
MAX_CHARACTERS = 256 * 1024


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff and its counts of lines."""

    diff: str
    additions: int
    deletions: int


def unified(before: str, after: str, name: str) -> Diff:
    """The diff between two texts under a printable file name; cut, and saying so, when it is very long."""
    old, new = _lines(before), _lines(after)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    changed = len(old) + len(new) - 2 * (head + tail)
    header = f"--- a/{name}\n+++ b/{name}\n"
    if changed > MAX_LINES:
        added, deleted = len(new) - head - tail, len(old) - head - tail
        note = f"\\ Too long to show: {deleted} lines become {added} from line {head + 1} on.\n"
        return Diff(header + note, added, deleted)
    first, past = max(head - CONTEXT, 0), max(tail - CONTEXT, 0)
    body = list(_hunks(old[first : len(old) - past], new[first : len(new) - past], first))
    additions = sum(line[0] == "+" for line in body)
    deletions = sum(line[0] == "-" for line in body)
    return Diff(header + _cut(body) if body else "", additions, deletions)


def _lines(text: str) -> list[str]:
    """Lines by LF alone, each with its LF; an unfinished last line has none."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def _common(old: list[str], new: list[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _hunks(old: list[str], new: list[str], offset: int) -> Iterator[str]:
    """The lines of all hunks; `offset` lines came before both texts."""
    for group in SequenceMatcher(None, old, new).get_grouped_opcodes(CONTEXT):
        first, last = group[0], group[-1]
        if all(tag == "equal" for tag, *_ in group):
            continue
        yield f"@@ -{_range(first[1], last[2], offset)} +{_range(first[3], last[4], offset)} @@\n"
        for tag, old_start, old_stop, new_start, new_stop in group:
            if tag == "equal":
                yield from _marked(" ", old[old_start:old_stop])
            else:
                yield from _marked("-", old[old_start:old_stop])
                yield from _marked("+", new[new_start:new_stop])


def _range(start: int, stop: int, offset: int) -> str:
    """A hunk's range as diff writes it: counted from 1, an empty one named by the line before it."""
    length = stop - start
    begin = start + offset + (1 if length else 0)
    return str(begin) if length == 1 else f"{begin},{length}"


def _marked(mark: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def _cut(lines: list[str]) -> str:
    """The lines up to the limit of characters, and how many more there are."""
    room, shown = MAX_CHARACTERS, 0
    while shown < len(lines) and room >= len(lines[shown]):
        room -= len(lines[shown])
        shown += 1
    rest = len(lines) - shown
    return "".join(lines[:shown]) + (f"\\ {rest} more lines of this diff are not shown\n" if rest else "")
