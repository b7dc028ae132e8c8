"""The unchanged lines between the hunks of a diff, shown when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.html import escape

from sessions.diffs.hunks import FileDiff, Hunk
from sessions.diffs.rows import Rows, Stretch

from .lines import Source
from .query import Take, View

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
    if start < 1 or stop > len(diff.new) + 1:
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
    """The row that stands for a gap; with a URL its lines can be had."""
    buttons = "".join(_button(gap, take, url) for take in _takes(gap)) if url and diff.new else ""
    columns = 4 if view == "split" else 3
    return (
        f'<tbody class="between"><tr class="gap"><td colspan="{columns}"><div class="gap-bar">'
        f"<span>{_words(gap, diff, source)}</span>{buttons}</div></td></tr></tbody>"
    )


def _takes(gap: Gap) -> list[Take]:
    if gap.stop - gap.start <= STEP:
        return ["all"]
    ends: list[Take] = [] if gap.first else ["down"]
    return [*ends, *([] if gap.last else ["up"]), "all"]  # type: ignore[list-item]


def _button(gap: Gap, take: Take, url: str) -> str:
    lines = gap.stop - gap.start
    words = {"up": f"↑ {STEP}", "down": f"↓ {STEP}", "all": f"Show all {lines:,}"}[take]
    said = {
        "up": f"Show {STEP} lines above line {gap.stop:,}",
        "down": f"Show {STEP} lines from line {gap.start:,} on",
        "all": f"Show all {lines:,} lines from line {gap.start:,} on",
    }[take]
    source = escape(f"{url}&gap={gap.start}-{gap.stop}&take={take}")
    return (
        f'<button type="button" class="quiet" hx-get="{source}" hx-target="closest tbody" '
        f'hx-swap="outerHTML" aria-label="{said}" title="{said}">{words}</button>'
    )


def _words(gap: Gap, diff: FileDiff, source: Source) -> str:
    lines = gap.stop - gap.start
    count = f"{lines:,} unchanged line{'s' if lines > 1 else ''}"
    if hidden := sum(gap.start <= hunk.begin[1] < gap.stop for hunk in diff.hidden):
        count = f"{lines:,} lines, {hidden} hunk{'s' if hidden > 1 else ''} of white space only not shown"
    shifts = {"old": gap.shift, "new": 0}
    said = sum(gap.start <= line + shifts[side] < gap.stop for side, line in source.notes)
    count += f", {said} with a comment" if said else ""
    wrong = sum(side == "new" and gap.start <= line < gap.stop for side, line in source.problems)
    return f"{count}, {wrong} with a problem" if wrong else count
