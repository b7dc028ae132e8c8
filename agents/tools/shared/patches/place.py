"""Find where the chunks of an update belong in a file, forgiving about whitespace and typographic signs."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from agents.tools.shared.patches.parse import Chunk, PatchError

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u00a0\u2002\u2003\u2009\u202f\u3000", " "),
    }
)


def _plain(line: str) -> str:
    return unicodedata.normalize("NFC", line.translate(_PLAIN)).strip()


_LENIENCE: tuple[Callable[[str], str], ...] = (str, str.rstrip, str.strip, _plain)
"""Tried one after the other on both sides; the strictest that fits wins."""


def applied(lines: Sequence[str], chunks: Sequence[Chunk]) -> list[str]:
    """The lines of a file with the chunks applied in order. Raises PatchError naming what was not found."""
    result: list[str] = []
    done = 0
    for chunk in chunks:
        start = done
        for anchor in chunk.anchors:
            found = _find(lines, [anchor], start)
            if found is None:
                raise PatchError(f"the line {anchor!r} after @@ was not found")
            start = found + 1
        at = _place(lines, chunk, start)
        result += [*lines[done:at], *_fitted(lines[at : at + len(chunk.old)], chunk)]
        done = at + len(chunk.old)
    return [*result, *lines[done:]]


def _place(lines: Sequence[str], chunk: Chunk, start: int) -> int:
    if not chunk.old:
        return start if chunk.anchors else len(lines)
    if chunk.at_end:
        last = len(lines) - len(chunk.old)
        if last >= start and _find(lines[: last + len(chunk.old)], chunk.old, last) == last:
            return last
    found = _find(lines, chunk.old, start)
    if found is None:
        shown = "\n".join(chunk.old[:8])
        raise PatchError(f"these lines were not found after line {start}:\n{shown}")
    return found


def _find(lines: Sequence[str], wanted: Sequence[str], start: int) -> int | None:
    for lenient in _LENIENCE:
        sought = [lenient(line) for line in wanted]
        seen = [lenient(line) for line in lines]
        for at in range(start, len(lines) - len(sought) + 1):
            if seen[at : at + len(sought)] == sought:
                return at
    return None


def _fitted(found: Sequence[str], chunk: Chunk) -> list[str]:
    """The new lines; context lines stay as the file has them, byte for byte."""
    kept = dict(zip(chunk.old, found, strict=True))
    old = set(chunk.old)
    return [kept[line] if line in old else line for line in chunk.new]
