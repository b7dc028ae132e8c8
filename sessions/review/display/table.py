"""The diff of one file as a table, unified or split. Built in Python: a template a row would take seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from sessions.diffs.hunks import FileDiff, Hunk, Row, split_rows
from sessions.rendering.text import visible, wellformed

from .colours import Pieces, coloured, line_html

View = Literal["unified", "split"]

FIRST_ROWS = 400
"""Rows of one file that are shown before somebody asks for all of them."""
_LONG_LINE = 5000
_COLUMNS = {
    "unified": '<colgroup><col class="num"><col class="num"><col></colgroup>',
    "split": '<colgroup><col class="num"><col><col class="num"><col></colgroup>',
}
_NO_NEWLINE = '<span class="eof">no newline at the end</span>'


@dataclass(frozen=True, slots=True)
class Shown:
    """The table, and how many rows of the diff are not in it."""

    table: SafeString
    left_out: int


@dataclass(frozen=True, slots=True)
class Paint:
    """What lines look like: colours of both sides, and whether ends of lines are part of the change."""

    old: Mapping[int, Pieces]
    new: Mapping[int, Pieces]
    line_ends: bool

    def line(self, row: Row) -> str:
        text = row.text if self.line_ends and row.kind != "context" else row.text.removesuffix("\r")
        end = _NO_NEWLINE if row.no_newline and row.kind != "context" else ""
        if len(text) > _LONG_LINE:
            more = f'<span class="eof">{len(text) - _LONG_LINE:,} more characters</span>'
            return line_html(text[:_LONG_LINE], None, ()) + more + end
        side, number = (self.old, row.old) if row.kind == "del" else (self.new, row.new)
        return line_html(text, side.get(number or 0), row.marks) + end


def show(
    diff: FileDiff,
    name: str,
    view: View,
    *,
    before: str | None = None,
    after: str | None = None,
    limit: int | None = FIRST_ROWS,
) -> Shown:
    """The table of a diff; `before` and `after` are the whole contents where they are at hand."""
    hunks, left_out = _within(diff, limit)
    kept = FileDiff(tuple(hunks))
    paint = Paint(coloured(kept, "old", name, before), coloured(kept, "new", name, after), _line_ends(kept))
    make = _split if view == "split" else _unified
    bodies = "".join(
        f"<tbody>{_gap(previous, hunk, view)}{''.join(make(hunk, paint))}</tbody>"
        for previous, hunk in zip([None, *hunks], hunks, strict=False)
    )
    head = f'<caption class="visually-hidden">Changes of {escape(visible(name))}</caption>{_COLUMNS[view]}'
    return Shown(mark_safe(wellformed(f'<table class="diff {view}">{head}{bodies}</table>')), left_out)  # noqa: S308


def _within(diff: FileDiff, limit: int | None) -> tuple[list[Hunk], int]:
    """The hunks that fit, the last one cut; and how many rows do not."""
    if limit is None:
        return list(diff.hunks), 0
    kept: list[Hunk] = []
    room = limit
    for hunk in diff.hunks:
        if room > 0:
            rows = hunk.rows[:room]
            kept.append(Hunk(hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count, rows))
        room -= len(hunk.rows)
    return kept, max(0, -room)


def _line_ends(diff: FileDiff) -> bool:
    ends = {row.text.endswith("\r") for hunk in diff.hunks for row in hunk.rows if row.kind != "context"}
    return len(ends) > 1


def _gap(previous: Hunk | None, hunk: Hunk, view: View) -> str:
    """How many lines lie between two hunks, or before the first."""
    end = previous.new_start + previous.new_count if previous else 1
    lines = hunk.new_start - end
    if lines <= 0:
        return ""
    words = f"{lines:,} unchanged line{'s' if lines > 1 else ''}"
    columns = 4 if view == "split" else 3
    return f'<tr class="gap"><td colspan="{columns}">{words}</td></tr>'


def _unified(hunk: Hunk, paint: Paint) -> Iterator[str]:
    for row in hunk.rows:
        yield (
            f'<tr class="{row.kind}">{_number(row.old)}{_number(row.new)}'
            f'<td class="line">{paint.line(row)}</td></tr>'
        )


def _split(hunk: Hunk, paint: Paint) -> Iterator[str]:
    for left, right in split_rows(hunk):
        yield f"<tr>{_side(left, 'old', paint)}{_side(right, 'new', paint)}</tr>"


def _side(row: Row | None, side: Literal["old", "new"], paint: Paint) -> str:
    if row is None:
        return '<td class="num none"></td><td class="line none"></td>'
    number = row.old if side == "old" else row.new
    return f'{_number(number, row.kind)}<td class="line {row.kind}">{paint.line(row)}</td>'


def _number(number: int | None, kind: str = "") -> str:
    """The number is drawn by CSS, so that it is not copied with the code."""
    css = f"num {kind}".strip()
    return f'<td class="{css}"></td>' if number is None else f'<td class="{css}" data-n="{number}"></td>'
