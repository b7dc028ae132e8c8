"""The changes of an attempt on the page: a table a file, with a box for each hunk that can be taken."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from agents.agent.comparisons.between import Between, between
from sessions.changes.diffs.hunks import FileDiff
from sessions.changes.review.comparing import Compared
from sessions.core.models import Attempt
from sessions.core.models.ledger import pack_path, unpack_path
from sessions.rendering.diffs.body import facts, is_link
from sessions.rendering.diffs.colours import WHOLE
from sessions.rendering.diffs.table import HunkBar, Source, Table, View, file_mark

MOST_FILES = 100
MOST_ROWS = 600
"""Of one file."""
Picks = dict[int, dict[str, set[str] | None] | None]
"""By number of the attempt: None for all of it, or by path the hunks, None for the whole file."""


@dataclass(frozen=True, slots=True)
class File:
    """`pick` is what the form sends to have the whole file taken, empty where it cannot be."""

    name: str
    pick: str
    additions: int
    deletions: int
    facts: Sequence[str]
    table: SafeString | str
    left_out: int


@dataclass(frozen=True, slots=True)
class Shown:
    """`left` is how many files are not shown."""

    files: Sequence[File]
    left: int


async def changes(old: Attempt | None, new: Attempt, view: View, *, pick: bool) -> Shown:
    """What `new` changed, or how it differs from `old`. `pick`: it can be taken."""
    found = await between(old, new)
    some = found[:MOST_FILES]
    files = await asyncio.to_thread(lambda: [_file(one, old, new, view, pick=pick) for one in some])
    return Shown(files, len(found) - len(some))


def _file(one: Between, old: Attempt | None, new: Attempt, view: View, *, pick: bool) -> File:
    whole = f"{new.number}::{pack_path(one.change.path)}" if pick else ""
    found = one.compared
    if one.change.skipped:
        why = gettext("Its content was not kept: %(why)s.") % {"why": gettext(one.change.skipped)}
        return File(one.name, "", 0, 0, [why], "", 0)
    if found is None:
        return File(one.name, "", 0, 0, [gettext("The content is no longer at hand.")], "", 0)
    said = list(facts(one.change, found, ""))
    diff = found.diff
    if not _has_lines(one, found):
        return File(one.name, whole, diff.additions, diff.deletions, said, "", 0)
    marks = _marks(new.number, one, diff) if pick and one.change.before and one.change.after else None
    source = Source(one.name, _small(found.before), _small(found.after), diff.mixed_ends, {})
    mark = file_mark(f"{old.number if old else 0}:{new.number}:{one.name}")
    table = Table(diff, view, source, marks, "", mark).whole(MOST_ROWS)
    return File(one.name, whole, diff.additions, diff.deletions, said, table.table, table.left_out)


def _has_lines(one: Between, found: Compared) -> bool:
    modes = (one.change.mode_before, one.change.mode_after)
    return bool(found.diff.hunks) and not any(is_link(mode) for mode in modes)


def _small(content: bytes | None) -> str | None:
    return None if content is None or len(content) > WHOLE else content.decode("utf-8", "replace")


def _marks(number: int, one: Between, diff: FileDiff) -> dict[str, HunkBar]:
    path = pack_path(one.change.path)
    return {hunk.key: HunkBar("here", _box(f"{number}:{hunk.key}:{path}")) for hunk in diff.hunks}


def _box(value: str) -> SafeString:
    return format_html(
        '<label class="compare-pick"><input type="checkbox" name="pick" value="{}">{}</label>',
        value,
        gettext("Take this hunk"),
    )


def picked(values: Sequence[str]) -> Picks:
    """What boxes say: `<attempt>`, `<attempt>::<path>` or `<attempt>:<hunk>:<path>`. What is none of these is
    passed over."""
    found: Picks = {}
    for value in values:
        number, _, rest = value.partition(":")
        key, _, path = rest.partition(":")
        if not number.isdecimal() or len(number) > 4:
            continue
        if not path:
            found[int(number)] = None
            continue
        files = found.setdefault(int(number), {})
        if files is None:
            continue
        hunks = files.setdefault(unpack_path(path), set())
        if not key:
            files[unpack_path(path)] = None
        elif hunks is not None:
            hunks.add(key)
    return found
