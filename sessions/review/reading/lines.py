"""Rows of a diff as table rows. Built in Python: a template a row would take seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from django.utils.safestring import SafeString

from sessions.diffs.rows import Row, Rows, Sides

from .colours import Lines, coloured, line_html
from .query import View

Side = Literal["old", "new"]
Notes = Mapping[tuple[Side, int], SafeString]
"""HTML that stands under a line: side and line number from 1."""

_LONG_LINE = 5000
_NO_NEWLINE = '<span class="eof">no newline at the end</span>'


@dataclass(frozen=True, slots=True)
class Source:
    """What the lines of a file are shown with: its name and, of a small file, both contents, for the colours;
    whether ends of lines are part of the change; what stands under lines."""

    name: str
    before: str | None
    after: str | None
    line_ends: bool
    notes: Notes


@dataclass(frozen=True, slots=True)
class Paint:
    """What the lines of a piece look like."""

    old: Lines
    new: Lines
    source: Source

    def line(self, row: Row) -> str:
        changed = row.kind != "context"
        text = row.text if self.source.line_ends and changed else row.text.removesuffix("\r")
        end = _NO_NEWLINE if row.no_newline and changed else ""
        if len(text) > _LONG_LINE:
            more = f'<span class="eof">{len(text) - _LONG_LINE:,} more characters</span>'
            return line_html(text[:_LONG_LINE], None, ()) + more + end
        side, number = (self.old, row.old) if row.kind == "del" else (self.new, row.new)
        return line_html(text, side.get(number or 0), row.marks) + end


def painted(rows: Iterable[Sides], source: Source) -> Paint:
    """For all rows that are shown together: a file is read for its colours once."""
    each = [row for left, right in rows for row in ((left, right) if left is not right else (left,)) if row]
    return Paint(*coloured(each, source.name, source.before, source.after), source)


def taken(rows: Rows, view: View, start: int = 0, stop: int | None = None) -> list[Sides]:
    """Rows of a view; of the unified one each by itself."""
    if view == "split":
        return list(rows.sides(start, stop))
    return [(row, None) for row in rows[start:stop]]


def table_rows(rows: Sequence[Sides], view: View, paint: Paint) -> str:
    return _split(rows, paint) if view == "split" else _unified(rows, paint)


def _unified(rows: Sequence[Sides], paint: Paint) -> str:
    """Old and new number, and the line."""
    return "".join(
        f'<tr class="{row.kind}">{_number(row.old, "old")}{_number(row.new, "new")}'
        f'<td class="line">{paint.line(row)}</td></tr>{_notes(row.old, row.new, paint.source.notes, 3)}'
        for row, _ in rows
        if row
    )


def _split(rows: Sequence[Sides], paint: Paint) -> str:
    """Both sides, each with number and line; what stands under either is as wide as both."""
    notes = paint.source.notes
    return "".join(
        f"<tr>{_half(left, 'old', paint)}{_half(right, 'new', paint)}</tr>"
        f"{_notes(left.old if left else None, right.new if right else None, notes, 4)}"
        for left, right in rows
    )


def _half(row: Row | None, side: Side, paint: Paint) -> str:
    if row is None:
        return f'<td class="num none"></td><td class="line {side} none"></td>'
    number = row.old if side == "old" else row.new
    return f'{_number(number, side, row.kind)}<td class="line {side} {row.kind}">{paint.line(row)}</td>'


def _number(number: int | None, side: Side, kind: str = "") -> str:
    """The number is drawn by CSS, so that it is not copied with the code."""
    if number is None:
        return '<td class="num"></td>'
    css = f"num {side} {kind}".rstrip()
    return f'<td class="{css}" data-n="{number}"></td>'


def _notes(old: int | None, new: int | None, notes: Notes, columns: int) -> str:
    if not notes:
        return ""
    under: list[tuple[Side, int]] = [("old", old or 0), ("new", new or 0)]
    return "".join(
        f'<tr class="note" data-side="{side}" data-line="{line}"><td colspan="{columns}">{notes[side, line]}'
        f"</td></tr>"
        for side, line in under
        if (side, line) in notes
    )
