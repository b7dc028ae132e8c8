"""Which files that came are files that went, under another name: by content, then by likeness of lines.

As git's rename detection (gitdiffcore(7)): equal contents first, then the most alike pairs that have at least
half of the larger one's bytes in common lines. Pure: contents come through `load`, and only as many as the
bounds allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from posixpath import basename

from sessions.changes.diffs.lines import split_lines

Load = Callable[[str], bytes | None]
"""The content of an address; None where it is not at hand."""

ALIKE = 0.5
MOST_FILES = 50
"""Files that came, and files that went, up to which those not equal are compared: 2,500 pairs at most."""
LARGEST = 512 * 1024
"""Bytes of a file up to which it is compared line by line."""
ALL = 16 * 1024 * 1024
"""Bytes that are loaded for one answer."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A file's path and the addresses of its content; None for no file."""

    path: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class _Text:
    lines: Counter[bytes]
    size: int


def renames(changes: Sequence[Moved], load: Load) -> dict[str, str]:
    """New path -> old path, for the files of `changes` that were renamed (and maybe changed)."""
    gone = [change for change in changes if change.before and not change.after]
    come = [change for change in changes if change.after and not change.before]
    found = _equal(gone, come)
    gone = [change for change in gone if change.path not in found.values()]
    come = [change for change in come if change.path not in found]
    if gone and come and len(gone) <= MOST_FILES and len(come) <= MOST_FILES:
        found |= _alike(gone, come, load)
    return found


def _equal(gone: Sequence[Moved], come: Sequence[Moved]) -> dict[str, str]:
    """Same content; of several, the one with the same file name first."""
    left: dict[str, list[str]] = {}
    for change in gone:
        left.setdefault(change.before or "", []).append(change.path)
    found: dict[str, str] = {}
    for by_name in (True, False):
        for change in come:
            paths = left.get(change.after or "", [])
            fits = (path for path in paths if not by_name or basename(path) == basename(change.path))
            if change.path not in found and (path := next(fits, None)) is not None:
                found[change.path] = path
                paths.remove(path)
    return found


def _alike(gone: Sequence[Moved], come: Sequence[Moved], load: Load) -> dict[str, str]:
    """The most alike pairs first, each file once."""
    room = ALL
    texts: dict[str, _Text] = {}
    for address in [*(change.before for change in gone), *(change.after for change in come)]:
        content = load(address) if address and address not in texts and room > 0 else None
        if address and content is not None:
            room -= len(content)
            if content and len(content) <= LARGEST:
                texts[address] = _Text(Counter(split_lines(content)), len(content))
    pairs = [
        (score, basename(new.path) == basename(old.path), new.path, old.path)
        for old in gone
        for new in come
        if (score := _likeness(texts.get(old.before or ""), texts.get(new.after or ""))) >= ALIKE
    ]
    found: dict[str, str] = {}
    taken: set[str] = set()
    for _, _, new, old in sorted(pairs, key=lambda pair: (-pair[0], not pair[1], pair[2], pair[3])):
        if new not in found and old not in taken:
            found[new] = old
            taken.add(old)
    return found


def _likeness(one: _Text | None, other: _Text | None) -> float:
    """Bytes in common lines, as a share of the larger text; 0 where that cannot be half."""
    if one is None or other is None or min(one.size, other.size) < ALIKE * max(one.size, other.size):
        return 0.0
    few, many = sorted((one.lines, other.lines), key=len)
    common = sum(len(line) * min(count, many[line]) for line, count in few.items() if line in many)
    return common / max(one.size, other.size)
