"""Rows of a diff as table rows. Built in Python: a template a row would take seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from django.utils.safestring import SafeString

from sessions.changes.diffs.rows import Row, Rows, Sides

from .colours import Lines, coloured, line_html
from .query import View

Side = Literal["old", "new"]
Notes = Mapping[tuple[Side, int], SafeString]
"""HTML that stands under a line: side and line number from 1."""


@dataclass(frozen=True, slots=True)
class Said:
    """Safe HTML of what is said of a line: `button` stands beside it, `under` below it, out of sight until
    the button is pressed unless `open`. `id` names what is below."""

    button: str
    under: str
    id: str
    open: bool = False


Problems = Mapping[tuple[Side, int], Said]
"""By side and line number from 1; those of the old side are of lines that are gone."""

_LONG_LINE = 5000
_NO_NEWLINE = '<span class="eof">no newline at the end</span>'


@dataclass(frozen=True, slots=True)
class Source:
    """What the lines of a file are shown with: its name and, of a small file, both contents, for the colours;
    whether ends of lines are part of the change; what stands under lines, and what is said of them; whether
    long lines are shown whole."""

    name: str
    before: str | None
    after: str | None
    line_ends: bool
    notes: Notes
    problems: Problems = field(default_factory=dict)
    uncut: bool = False


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
            if self.source.uncut:
                return line_html(text, None, ()) + end
            more = f'<span class="eof">{len(text) - _LONG_LINE:,} more characters</span>'
            return line_html(text[:_LONG_LINE], None, ()) + more + end
        side, number = (self.old, row.old) if row.kind == "del" else (self.new, row.new)
        return line_html(text, side.get(number or 0), row.marks) + end

    def said(self, row: Row | None) -> Said | None:
        """What is said of a line, of one that is gone as it was."""
        if row is None or not self.source.problems:
            return None
        return self.source.problems.get(("old", row.old or 0) if row.kind == "del" else ("new", row.new or 0))

    def cell(self, row: Row) -> str:
        """The line with the button beside it."""
        said = self.said(row)
        return said.button + self.line(row) if said else self.line(row)


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
        f'<td class="line">{paint.cell(row)}</td></tr>'
        f"{_under(paint.said(row), 3)}{_notes(row.old, row.new, paint.source.notes, 3)}"
        for row, _ in rows
        if row
    )


def _split(rows: Sequence[Sides], paint: Paint) -> str:
    """Both sides, each with number and line; what stands under either is as wide as both."""
    notes = paint.source.notes
    return "".join(
        f"<tr>{_half(left, 'old', paint)}{_half(right, 'new', paint)}</tr>"
        f"{_both(left, right, paint)}"
        f"{_notes(left.old if left else None, right.new if right else None, notes, 4)}"
        for left, right in rows
    )


def _half(row: Row | None, side: Side, paint: Paint) -> str:
    if row is None:
        return f'<td class="num none"></td><td class="line {side} none"></td>'
    number = row.old if side == "old" else row.new
    line = paint.line(row) if side == "old" and row.kind == "context" else paint.cell(row)
    return f'{_number(number, side, row.kind)}<td class="line {side} {row.kind}">{line}</td>'


def _number(number: int | None, side: Side, kind: str = "") -> str:
    """The number is drawn by CSS, so that it is not copied with the code."""
    if number is None:
        return '<td class="num"></td>'
    css = f"num {side} {kind}".rstrip()
    return f'<td class="{css}" data-n="{number}"></td>'


def _both(left: Row | None, right: Row | None, paint: Paint) -> str:
    """What is below a line of the split view: a context line is the same on both sides."""
    return ("" if left is right else _under(paint.said(left), 4)) + _under(paint.said(right), 4)


def _under(said: Said | None, columns: int) -> str:
    if said is None:
        return ""
    hidden = "" if said.open else " hidden"
    return f'<tr class="note problems" id="{said.id}"{hidden}><td colspan="{columns}">{said.under}</td></tr>'


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
