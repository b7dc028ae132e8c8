"""Strategies that look for a block of whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from textwrap import dedent

ANCHORED_SIMILARITY = 0.7
CONTEXT_SIMILARITY = 0.5
LEAD = 0.1
"""By how much a block must be more like the text than another one to be preferred."""
COMPARED_CHARACTERS = 4000

Scored = tuple[float, str]


def line_trimmed(text: str, old: str) -> Iterator[str]:
    """Lines that are equal but for white space at their ends."""
    lines, wanted = text.split("\n"), _trimmed(_wanted(old))
    if any(wanted):
        for start in _starts(_trimmed(lines), wanted):
            yield _block(lines, start, start + len(wanted), old)


def indentation_flexible(text: str, old: str) -> Iterator[str]:
    """Lines that are equal but for an indentation they have in common."""
    lines, wanted = text.split("\n"), _wanted(old)
    if not any(map(str.strip, wanted)):
        return
    flat = dedent("\n".join(wanted))
    for start in _starts(_trimmed(lines), _trimmed(wanted)):
        stop = start + len(wanted)
        if dedent("\n".join(lines[start:stop])) == flat:
            yield _block(lines, start, stop, old)


def block_anchor(text: str, old: str) -> Iterator[str]:
    """A block with the same first and last line, about as long, and alike between them."""
    lines, wanted = text.split("\n"), _trimmed(_wanted(old))
    if len(wanted) < 3 or not (wanted[0] and wanted[-1]):
        return
    trimmed, slack = _trimmed(lines), max(1, len(wanted) // 4)
    scored = []
    for start in [at for at, line in enumerate(trimmed) if line == wanted[0]]:
        for size in range(max(2, len(wanted) - slack), len(wanted) + slack + 1):
            stop = start + size
            if stop <= len(lines) and trimmed[stop - 1] == wanted[-1]:
                score = _similarity(trimmed[start + 1 : stop - 1], wanted[1:-1])
                scored.append((score, _block(lines, start, stop, old)))
    yield from _best(scored, ANCHORED_SIMILARITY)


def context_aware(text: str, old: str) -> Iterator[str]:
    """A block of as many lines with the same first and last line and over half of the others equal."""
    lines, wanted = text.split("\n"), _trimmed(_wanted(old))
    size = len(wanted)
    if size < 3 or not (wanted[0] and wanted[-1]):
        return
    trimmed, scored = _trimmed(lines), []
    for start in range(len(lines) - size + 1):
        if trimmed[start] == wanted[0] and trimmed[start + size - 1] == wanted[-1]:
            pairs = zip(trimmed[start + 1 : start + size - 1], wanted[1:-1], strict=True)
            body = [have == want for have, want in pairs if have or want]
            scored.append((sum(body) / max(len(body), 1), _block(lines, start, start + size, old)))
    yield from _best(scored, CONTEXT_SIMILARITY)


def _wanted(old: str) -> list[str]:
    return old.removesuffix("\n").split("\n")


def _trimmed(lines: list[str]) -> list[str]:
    return [line.strip() for line in lines]


def _starts(lines: list[str], wanted: list[str]) -> Iterator[int]:
    """Where the lines wanted stand one after the other."""
    size = len(wanted)
    for start in range(len(lines) - size + 1):
        if lines[start] == wanted[0] and lines[start : start + size] == wanted:
            yield start


def _block(lines: list[str], start: int, stop: int, old: str) -> str:
    """The text of some lines, with the line break after them if the text wanted has one."""
    ending = "\n" if old.endswith("\n") and stop < len(lines) else ""
    return "\n".join(lines[start:stop]) + ending


def _similarity(have: list[str], want: list[str]) -> float:
    """From 0 to 1; by characters for short blocks, by lines for long ones."""
    one, other = "\n".join(have), "\n".join(want)
    if len(one) + len(other) > COMPARED_CHARACTERS:
        return SequenceMatcher(None, have, want, autojunk=False).ratio()
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return 0.0 if matcher.quick_ratio() < ANCHORED_SIMILARITY else matcher.ratio()


def _best(scored: list[Scored], threshold: float) -> Iterator[str]:
    """The block most alike, with those nearly as much alike: then the choice is not ours."""
    top = max((score for score, _ in scored), default=0.0)
    for score, block in scored:
        if score > threshold and score >= top - LEAD:
            yield block
