"""A unified patch read back into rows: a proposal that comes as text is shown as any other diff."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from sessions.changes.diffs.hunks import FileDiff, Hunk, mixed_ends
from sessions.changes.diffs.rows import Rows, Stretch

_NO_NEWLINE = "\\ No newline"
_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")

_Line = tuple[str, bytes]
"""Sign (`-`, `+`, or a space) and the line with its end."""


def parse(patch: str) -> FileDiff:
    """The hunks of a patch of one file. Lines that are no part of a hunk are passed over; a patch that was
    cut short (`unified`, agents) is `truncated`."""
    made: list[Hunk] = []
    changed: list[_Line] = []
    lines = patch.split("\n")
    at = 0
    while at < len(lines):
        head = _HEAD.match(lines[at])
        at += 1
        if not head:
            continue
        old, old_count, new, new_count = (int(field or 1) for field in head.groups())
        begin = at
        while at < len(lines) and lines[at][:1] in (" ", "+", "-", "\\"):
            at += 1
        read = _read(lines[begin:at])
        base = (old - 1 if old_count else old, new - 1 if new_count else new)
        made.append(Hunk(old, old_count, new, new_count, _rows(read, base)))
        changed += [line for line in read if line[0] != " "]
    counts = (sum(sign == "+" for sign, _ in changed), sum(sign == "-" for sign, _ in changed))
    cut = any(line.startswith("\\ ") and "not shown" in line for line in lines[-3:])
    mixed = mixed_ends(line for _, line in changed)
    return FileDiff(tuple(made), *counts, truncated=cut, mixed_ends=mixed)


def _read(lines: Sequence[str]) -> list[_Line]:
    """The lines of one hunk."""
    found: list[_Line] = []
    for line in lines:
        if line[:1] != "\\":
            found.append((line[:1], line[1:].encode("utf-8", "replace") + b"\n"))
        elif found and line.startswith(_NO_NEWLINE):
            found[-1] = (found[-1][0], found[-1][1].removesuffix(b"\n"))
    return found


def _rows(lines: Sequence[_Line], base: tuple[int, int]) -> Rows:
    old = [line for sign, line in lines if sign != "+"]
    new = [line for sign, line in lines if sign != "-"]
    stretches: list[Stretch] = []
    i = j = 0
    for changed, run in groupby(lines, lambda line: line[0] != " "):
        signs = [sign for sign, _ in run]
        deleted, added = signs.count("-") if changed else len(signs), len(signs) - signs.count("-")
        stretches.append(Stretch(i, i + deleted, j, j + added, changed))
        i, j = i + deleted, j + added
    return Rows(old, new, stretches, base)
