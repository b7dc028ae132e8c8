"""The diff of one file as a table, unified or split.

A long one comes in pieces: its first rows, then placeholders as high as the rows they stand for, which
static/js/diff.js fills when they come near the screen and empties when they are far from it.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, cast
from urllib.parse import urlencode

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext, ngettext

from sessions.changes.diffs.hunks import FileDiff, Hunk, Row, Rows, Sides, Stretch
from sessions.core.sentences import grouped
from sessions.core.text import visible, wellformed
from sessions.rendering.diffs.colours import Lines, coloured, line_html

# How a diff is read: the view, whether white space counts, and which piece of it is asked for.

View = Literal["unified", "split"]
Take = Literal["up", "down", "all"]

_RANGE = re.compile(r"(\d{1,9})-(\d{1,9})")


@dataclass(frozen=True, slots=True)
class Reading:
    """`rows` is a range of the diff's rows, counted from 0. `gap` is a range [start, end) of lines of the new
    side, from 1, that no hunk covers; `take` says from which end lines of it are shown."""

    view: View = "unified"
    whitespace: bool = True
    rows: tuple[int, int] | None = None
    gap: tuple[int, int] | None = None
    take: Take = "all"

    @classmethod
    def asked(cls, query: Mapping[str, str]) -> Reading:
        """From `view`, `w=1` (white space does not count), `rows`, `gap`, `take`; bad input is left out."""
        take = query.get("take", "")
        return cls(
            "split" if query.get("view") == "split" else "unified",
            query.get("w") != "1",
            _range(query.get("rows", "")),
            _range(query.get("gap", "")),
            cast(Take, take) if take in ("up", "down") else "all",
        )

    @property
    def piece(self) -> bool:
        """Whether a part of a table that is on the page already is asked for, and not the whole."""
        return bool(self.rows or self.gap)

    def query(self) -> str:
        """How to read the pieces of what was asked for, for a URL."""
        return urlencode({"view": self.view, **({} if self.whitespace else {"w": "1"})})


def _range(text: str) -> tuple[int, int] | None:
    found = _RANGE.fullmatch(text)
    if not found or int(found[1]) >= int(found[2]):
        return None
    return int(found[1]), int(found[2])


# Rows of a diff as table rows. Built in Python: a template a row would take seconds.

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
            more = f'<span class="eof">{_more(len(text) - _LONG_LINE)}</span>'
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


def sides_of(rows: Rows, view: View, start: int = 0, stop: int | None = None) -> list[Sides]:
    """Rows of a view; of the unified one each by itself."""
    if view == "split":
        return list(rows.sides(start, stop))
    return [(row, None) for row in rows[start:stop]]


def _more(count: int) -> str:
    return gettext("%(count)s more characters") % {"count": grouped(count)}


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


# The table and its pieces.

FIRST_ROWS = 200
"""Rows that a table begins with."""
PIECE = 100
"""Rows of each further piece."""
BLOCK = 50 * PIECE
"""Rows of a placeholder far away; near the screen it is cut into pieces. A browser lays out these few much
faster than all the pieces."""

_COLUMNS = {
    "unified": '<colgroup><col class="num"><col class="num"><col></colgroup>',
    "split": '<colgroup><col class="num"><col><col class="num"><col></colgroup>',
}


@dataclass(frozen=True, slots=True)
class HunkBar:
    """What stands at the head of a hunk: `state` is one of here, gone, kept, changed, missing."""

    state: str
    html: SafeString


@dataclass(frozen=True, slots=True)
class Shown:
    """The table, and how many rows of the diff are not in it and cannot be had."""

    table: SafeString
    left_out: int


@dataclass(frozen=True, slots=True)
class Table:
    """A diff and all that is shown with it. `url` (with a query) is where pieces of it come from, empty where
    there are none to be had; `mark` tells the ids of its hunks from those of other files."""

    diff: FileDiff
    view: View
    source: Source
    marks: Mapping[str, HunkBar] | None = None
    url: str = ""
    mark: str = ""
    starts: list[int] = field(init=False)
    """The row at which each hunk begins, and the number of rows."""

    def __post_init__(self) -> None:
        sizes = (len(hunk.rows) if self.view == "unified" else hunk.rows.slots for hunk in self.diff.hunks)
        object.__setattr__(self, "starts", [0, *accumulate(sizes)])

    def whole(self, limit: int | None = FIRST_ROWS) -> Shown:
        total = self.starts[-1]
        first = total if limit is None else min(limit, total)
        more = "".join(self._later(first, total)) if self.url else ""
        css = f"diff {self.view}{'' if self.marks is None else ' reviewed'}"
        changes = gettext("Changes of %(name)s") % {"name": escape(visible(self.source.name))}
        head = f'<caption class="visually-hidden">{changes}</caption>{_COLUMNS[self.view]}'
        digits = max((len(str(max(hunk.end))) for hunk in self.diff.hunks[-1:]), default=1)
        table = f'<table class="{css}" data-digits="{digits}">{head}{self.rows(0, first)}{more}</table>'
        return Shown(mark_safe(wellformed(table)), 0 if self.url else total - first)  # noqa: S308

    def rows(self, start: int, stop: int) -> SafeString:
        """The rows [start, stop) as table bodies, with the gaps before hunks that begin there."""
        stop = min(stop, self.starts[-1])
        first = max(bisect_right(self.starts, start) - 1, 0)
        shown: list[tuple[int, list[Sides]]] = []
        for number in range(first, bisect_left(self.starts, stop)):
            begin, end = self.starts[number : number + 2]
            rows = self.diff.hunks[number].rows
            shown.append((number, sides_of(rows, self.view, max(start - begin, 0), min(stop, end) - begin)))
        paint = painted((row for _, rows in shown for row in rows), self.source)
        made: list[str] = []
        for number, taken in shown:
            begins = self.starts[number] >= start
            made.append((self._gap(number) if begins else "") + self._hunk(number, begins, taken, paint))
        if stop == self.starts[-1] and self.diff.new:
            made.append(self._gap(len(self.diff.hunks)))
        return mark_safe(wellformed("".join(made)))  # noqa: S308 (built of escaped parts)

    def gap(self, start: int, stop: int, take: Take) -> SafeString:
        """Lines of a gap, with what stays hidden of it before and after; empty if there is no such gap."""
        found = named(start, stop, self.diff)
        if found is None:
            return mark_safe("")
        before, taken, after = found.taken(take)
        made = [self._context(taken) if taken.stop - taken.start <= PIECE else self._long(taken)]
        made = [self._bar(before), *made, self._bar(after)]
        return mark_safe(wellformed("".join(made)))  # noqa: S308 (built of escaped parts)

    def _hunk(self, number: int, begins: bool, taken: list[Sides], paint: Paint) -> str:
        hunk = self.diff.hunks[number]
        rows = table_rows(taken, self.view, paint)
        if not begins:
            return f'<tbody class="more"{self._of(self.starts[number])}>{rows}</tbody>'
        if self.marks is None:
            return f'<tbody class="hunk">{rows}</tbody>'
        bar = self.marks.get(hunk.key) or HunkBar("here", SafeString())
        said = gettext("Hunk %(number)s of %(count)s") % {"number": number + 1, "count": len(self.diff.hunks)}
        head = bar.html or f'<span class="hunk-at">{_position(hunk)}</span>'
        return (
            f'<tbody class="hunk" id="h-{self.mark}-{number}" data-hunk="{escape(hunk.key)}" '
            f'data-state="{escape(bar.state)}" tabindex="-1" aria-label="{said}">'
            f'<tr class="hunk-head"><td colspan="{self._columns}">{head}</td></tr>{rows}</tbody>'
        )

    def _later(self, start: int, stop: int) -> Iterator[str]:
        for begin in range(start, stop, BLOCK):
            end = min(begin + BLOCK, stop)
            heads = [self._heads(at, min(at + PIECE, end)) for at in range(begin, end, PIECE)]
            yield self._placeholder("rows", begin, end, heads, "" if any(heads) else self._of(begin))

    def _long(self, gap: Gap) -> str:
        blocks = range(gap.start, gap.stop, BLOCK)
        return "".join(self._placeholder("gap", at, min(at + BLOCK, gap.stop), [0], "") for at in blocks)

    def _placeholder(self, kind: str, start: int, stop: int, heads: list[int], attributes: str) -> str:
        """Stands for rows or lines [start, stop), with the heads of so many hunks in each piece of them."""
        source = escape(f"{self.url}&{kind}=")
        each = f' data-each="{",".join(map(str, heads))}"' if any(heads) else ""
        return (
            f'<tbody class="later"{attributes} data-src="{source}" data-from="{start}" data-to="{stop}" '
            f'data-piece="{PIECE}" data-heads="{sum(heads)}"{each}>'
            f'<tr><td colspan="{self._columns}"></td></tr></tbody>'
        )

    def _heads(self, start: int, stop: int) -> int:
        """How many hunks begin in a range of rows."""
        return bisect_left(self.starts, stop) - bisect_left(self.starts, start)

    def _of(self, row: int) -> str:
        """Attributes of what continues the hunk that a row is in."""
        hunk = self.diff.hunks[bisect_right(self.starts, row) - 1]
        bar = (self.marks or {}).get(hunk.key)
        return f' data-of="{escape(hunk.key)}" data-state="{escape(bar.state if bar else "here")}"'

    def _context(self, gap: Gap) -> str:
        rows = sides_of(gap.rows(self.diff), self.view)
        shown = table_rows(rows, self.view, painted(rows, self.source))
        return f'<tbody class="expanded">{shown}</tbody>'

    def _gap(self, number: int) -> str:
        """What lies before a hunk; after the last one for their number."""
        hunks = self.diff.hunks
        previous = hunks[number - 1] if number else None
        return self._bar(between(previous, hunks[number] if number < len(hunks) else None, self.diff))

    def _bar(self, gap: Gap | None) -> str:
        return bar(gap, self.diff, self.view, self.url, self.source) if gap else ""

    @property
    def _columns(self) -> int:
        return 4 if self.view == "split" else 3


def show(
    diff: FileDiff,
    name: str,
    view: View,
    *,
    before: str | None = None,
    after: str | None = None,
    limit: int | None = FIRST_ROWS,
    marks: Mapping[str, HunkBar] | None = None,
    notes: Notes | None = None,
    url: str = "",
    uncut: bool = False,
) -> Shown:
    """The table of a diff; `before` and `after` are the whole contents where they are at hand and small.

    `marks` are put at the heads of hunks by their key, `notes` under the lines they are for. Rows beyond
    `limit` come from `url`, or are left out. Long lines are cut unless `uncut`.
    """
    source = Source(name, before, after, diff.mixed_ends, notes or {}, uncut=uncut)
    return Table(diff, view, source, marks, url, file_mark(name)).whole(limit)


def file_mark(name: str) -> str:
    """What the ids of a file's hunks have in them: `h-<mark>-<number>`."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:10]


def _position(hunk: Hunk) -> str:
    """As in a patch: where its lines are on either side."""
    return f"@@ -{hunk.old_start},{hunk.old_count} +{hunk.new_start},{hunk.new_count} @@"


# The unchanged lines between the hunks of a diff, shown when they are asked for.

STEP = 20
"""Lines that one click brings."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Lines [start, stop) of the new side, from 1; a line has the number `shift` less on the old side."""

    start: int
    stop: int
    shift: int
    first: bool = False
    last: bool = False

    def rows(self, diff: FileDiff) -> Rows:
        old, new = self.start - self.shift - 1, self.start - 1
        lines = self.stop - self.start
        return Rows(diff.old, diff.new, [Stretch(old, old + lines, new, new + lines, changed=False)])

    def taken(self, take: Take) -> tuple[Gap | None, Gap, Gap | None]:
        """The lines that are to be shown, between what stays hidden before and after them."""
        lines = self.stop - self.start
        if take == "all" or lines <= STEP:
            return None, self, None
        if take == "down":
            return None, self.part(self.start, self.start + STEP), self.part(self.start + STEP, self.stop)
        return self.part(self.start, self.stop - STEP), self.part(self.stop - STEP, self.stop), None

    def part(self, start: int, stop: int) -> Gap:
        """Some of the lines; what is at an end of the file stays there."""
        first, last = self.first and start == self.start, self.last and stop == self.stop
        return Gap(start, stop, self.shift, first, last)


def between(previous: Hunk | None, following: Hunk | None, diff: FileDiff) -> Gap | None:
    """The lines between two hunks, before the first (no previous) or after the last (no following)."""
    old, start = previous.end if previous else (1, 1)
    stop = following.begin[1] if following else len(diff.new) + 1
    if stop <= start:
        return None
    return Gap(start, stop, start - old, first=previous is None, last=following is None)


def named(start: int, stop: int, diff: FileDiff) -> Gap | None:
    """The gap [start, stop) that a page asks for; None where it is not one of this diff."""
    if start < 1 or stop > len(diff.new) + 1 or _among(diff.elsewhere, start, stop):
        return None
    previous = None
    for hunk in diff.hunks:
        if hunk.begin[1] >= stop:
            break
        if hunk.end[1] > start:
            return None
        previous = hunk
    old, new = previous.end if previous else (1, 1)
    return Gap(start, stop, new - old, first=start == 1, last=stop == len(diff.new) + 1)


def bar(gap: Gap, diff: FileDiff, view: View, url: str, source: Source) -> str:
    """The row that stands for a gap; with a URL its lines can be had, unless hunks that are shown elsewhere
    are among them."""
    can = url and diff.new and not _among(diff.elsewhere, gap.start, gap.stop)
    buttons = "".join(_button(gap, take, url) for take in _takes(gap)) if can else ""
    columns = 4 if view == "split" else 3
    return (
        f'<tbody class="between"><tr class="gap"><td colspan="{columns}"><div class="gap-bar">'
        f"<span>{_words(gap, diff, source)}</span>{buttons}</div></td></tr></tbody>"
    )


def _among(hunks: Sequence[Hunk], start: int, stop: int) -> int:
    """How many of them begin in a range of lines of the new side."""
    return sum(start <= hunk.begin[1] < stop for hunk in hunks)


def _takes(gap: Gap) -> list[Take]:
    if gap.stop - gap.start <= STEP:
        return ["all"]
    ends: list[Take] = [] if gap.first else ["down"]
    return [*ends, *([] if gap.last else ["up"]), "all"]  # type: ignore[list-item]


def _button(gap: Gap, take: Take, url: str) -> str:
    lines = gap.stop - gap.start
    words = {
        "up": f"↑ {STEP}",
        "down": f"↓ {STEP}",
        "all": gettext("Show all %(lines)s") % {"lines": grouped(lines)},
    }[take]
    said = {
        "up": gettext("Show %(step)s lines above line %(stop)s") % {"step": STEP, "stop": grouped(gap.stop)},
        "down": gettext("Show %(step)s lines from line %(start)s on")
        % {"step": STEP, "start": grouped(gap.start)},
        "all": gettext("Show all %(lines)s lines from line %(start)s on")
        % {
            "lines": grouped(lines),
            "start": grouped(gap.start),
        },
    }[take]
    source = escape(f"{url}&gap={gap.start}-{gap.stop}&take={take}")
    return (
        f'<button type="button" class="quiet" hx-get="{source}" hx-target="closest tbody" '
        f'hx-swap="outerHTML" aria-label="{said}" title="{said}">{words}</button>'
    )


def _words(gap: Gap, diff: FileDiff, source: Source) -> str:
    lines = gap.stop - gap.start
    words = ngettext("%(lines)s unchanged line", "%(lines)s unchanged lines", lines)
    if others := _among(diff.elsewhere, gap.start, gap.stop):
        words = ngettext(
            "%(hunks)s hunk that is at another stop", "%(hunks)s hunks that are at other stops", others
        )
        return words % {"hunks": grouped(others)}
    hidden = _among(diff.hidden, gap.start, gap.stop)
    if hidden:
        words = ngettext(
            "%(lines)s lines, %(hidden)s hunk of white space only not shown",
            "%(lines)s lines, %(hidden)s hunks of white space only not shown",
            hidden,
        )
    pieces = [words % {"lines": grouped(lines), "hidden": hidden}]
    shifts = {"old": gap.shift, "new": 0}
    said = sum(gap.start <= line + shifts[side] < gap.stop for side, line in source.notes)
    if said:
        pieces.append(gettext("%(count)s with a comment") % {"count": said})
    wrong = sum(side == "new" and gap.start <= line < gap.stop for side, line in source.problems)
    if wrong:
        pieces.append(gettext("%(count)s with a problem") % {"count": wrong})
    return ", ".join(pieces)
