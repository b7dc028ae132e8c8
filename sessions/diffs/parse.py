"""A unified patch read back into rows: a proposal that comes as text is shown as any other diff."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from sessions.diffs.hunks import FileDiff, Hunk, Row
from sessions.diffs.words import word_marks

_NO_NEWLINE = "\\ No newline"
_HEAD = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def parse(patch: str) -> FileDiff:
    """The hunks of a patch of one file. Lines that are no part of a hunk are passed over; a patch that was
    cut short (`unified`, agents) is `truncated`."""
    made: list[Hunk] = []
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
        rows = tuple(_marked(_rows(lines[begin:at], old, new)))
        made.append(Hunk(old, old_count, new, new_count, rows))
    additions = sum(row.kind == "add" for hunk in made for row in hunk.rows)
    deletions = sum(row.kind == "del" for hunk in made for row in hunk.rows)
    cut = any(line.startswith("\\ ") and "not shown" in line for line in lines[-3:])
    return FileDiff(tuple(made), additions, deletions, truncated=cut)


def _rows(lines: list[str], old: int, new: int) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        sign, text = line[:1], line[1:]
        if sign == "\\":
            if rows and line.startswith(_NO_NEWLINE):
                rows[-1] = replace(rows[-1], no_newline=True)
        elif sign == "-":
            rows.append(Row("del", old, None, text))
            old += 1
        elif sign == "+":
            rows.append(Row("add", None, new, text))
            new += 1
        else:
            rows.append(Row("context", old, new, text))
            old, new = old + 1, new + 1
    return rows


def _marked(rows: list[Row]) -> Iterator[Row]:
    """The rows with what differs between a deleted line and the one in its place."""
    for changed, run in groupby(rows, lambda row: row.kind != "context"):
        block = list(run)
        if changed:
            deleted = [row for row in block if row.kind == "del"]
            added = [row for row in block if row.kind == "add"]
            marks = [word_marks(was.text, now.text) for was, now in zip(deleted, added, strict=False)]
            for index, (before, after) in enumerate(marks):
                deleted[index] = replace(deleted[index], marks=before)
                added[index] = replace(added[index], marks=after)
            block = [*deleted, *added]
        yield from block
