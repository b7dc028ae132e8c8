"""The answer to a verdict or a mark: the blocks of the files it was given on, their rows, totals, a note.

The panel puts each piece where the one with its id is (static/js/review-merge.js), so what else is open,
typed or scrolled to stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.review.conflicts import Sides, sides
from sessions.changes.review.marking import digest
from sessions.changes.review.tours import Route, at_stop, route
from sessions.changes.review.verdicts import Listing, Scope, listing
from sessions.changes.undo.merge import Conflict
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from sessions.core.principal import acting
from sessions.core.store import events, marks, tours
from sessions.core.store.marks import Marks
from sessions.rendering.diffs.table import Reading
from sessions.rendering.html import html
from sessions.web.respond import fragment
from sessions.web.review.display.files import (
    FileRow,
    Told,
    blocks,
    file_id,
    file_row,
    file_rows,
    totals,
    tree_row,
)

CHOICES = ("file", "other", "hand")


@dataclass(frozen=True, slots=True)
class Stretch:
    """`now` and `other` are None where the bytes are no text; then nothing can be written by hand."""

    number: int
    line: int
    now: str
    other: str
    text: bool


WRITE = gettext_noop("Write to the file")
NOW = gettext_noop("In the file now")
WITHOUT = (NOW, gettext_noop("Before the agent"))
STAGED = (NOW, gettext_noop("As the agent staged it"))


def settle_form(
    file: str, pick: str, sides: Sides, *, labels: tuple[str, str] = WITHOUT, act: str = WRITE
) -> SafeString:
    """`file` is the id of the file's element; `labels` name the sides, `act` what a choice leads to."""
    return html(
        "review/settle.html",
        id=f"{file}-{digest(pick)}",
        seen=sides.seen,
        removed=sides.removed,
        labels=[gettext(label) for label in labels],
        act=gettext(act),
        stretches=[_stretch(number, one) for number, one in enumerate(sides.conflicts)],
    )


def _stretch(number: int, conflict: Conflict) -> Stretch:
    try:
        now, other = conflict.current.decode(), conflict.other.decode()
    except UnicodeDecodeError:
        now, other = (part.decode("utf-8", "replace") for part in (conflict.current, conflict.other))
        return Stretch(number, conflict.line, now, other, text=False)
    return Stretch(number, conflict.line, now, other, text=True)


async def answered(
    shown: Asked,
    keys: Sequence[str],
    operation: Operation | None = None,
    note: str = "",
    outcome: Sequence[Mapping[str, Any]] = (),
) -> HttpResponse:
    """The files named by `keys` as they are now; `operation` is the verdict that was just given on them,
    `outcome` what came of one that changed nothing."""
    session = shown.session
    found = await listing(session, shown.scope)
    given = await in_db(marks.of_session, session.id, acting.get())
    fresh = await looked_at(session, shown.scope, shown.reading, found, given, shown.found.stop)
    rows = await asyncio.to_thread(_rows, fresh, keys, operation.outcome if operation else outcome)
    every = await asyncio.to_thread(
        file_rows, found, given, shown.reading, session.get_absolute_url(), bare=True
    )
    return fragment(
        "review/answer.html",
        base=session.get_absolute_url(),
        files=blocks(rows, staged=shown.staged),
        rows=[tree_row(file) for file in rows],
        gone=[file_id(key) for key in keys if fresh.found.file(key) is None],
        total=totals(every),
        note=note,
        operation=operation,
    )


def _rows(shown: Asked, keys: Sequence[str], outcome: Sequence[Mapping[str, Any]]) -> list[FileRow]:
    chosen = [file for key in keys if (file := shown.found.file(key)) is not None]
    return [
        file_row(
            file,
            shown.found,
            shown.marks,
            shown.reading,
            shown.session.get_absolute_url(),
            _told(shown.found, file.key, outcome),
        )
        for file in chosen
    ]


def _told(found: Listing, key: str, outcome: Sequence[Mapping[str, Any]]) -> Told:
    """What came of a verdict for the hunks of one file."""
    entry = next((one for one in outcome if one["path"] == key), None)
    file = found.file(key)
    if entry is None or file is None:
        return Told()
    outcomes = entry.get("hunks", {})
    conflicts = [pick for pick, outcome in outcomes.items() if outcome == "conflict"]
    offered = {pick: chosen for pick in conflicts if (chosen := sides(file, found, pick)) is not None}
    staged = found.scope.kind == "staged"
    forms = {
        pick: settle_form(file_id(key), pick, chosen, labels=STAGED if staged else WITHOUT)
        for pick, chosen in offered.items()
    }
    return Told(outcomes, entry.get("reason", ""), forms)


RECENT = 3.0
"""Seconds for which a list of files serves the requests for the diffs of its files."""
_MOST = 8  # lists that are remembered
_DIGITS = 4

_recent: dict[tuple[str, Scope], tuple[float, int, Listing]] = {}


@dataclass(frozen=True, slots=True)
class Asked:
    """The scope and the reading that were chosen, the files found, and the marks on them. At a stop of a
    tour, whose `route` is here then, `found` are those of the stop, and `whole` all of the scope."""

    session: Session
    scope: Scope
    reading: Reading
    found: Listing
    marks: Marks
    whole: Listing
    route: Route | None = None

    @property
    def staged(self) -> bool:
        return self.scope.kind == "staged"


async def asked(request: HttpRequest, session: Session, *, recent: bool = False) -> Asked:
    """From a query (`GET`) or a form (`POST`): scope, message, part; view, w; the stop of a tour. With
    `recent` the list of files may be a few seconds old, unless anything has happened since; how it stands
    with each hunk is read anew.
    """
    given = {**request.GET.dict(), **request.POST.dict()}
    scope = Scope.asked(given)
    found = await _found(session, scope, recent=recent)
    own = await in_db(marks.of_session, session.id, acting.get())
    return await looked_at(session, scope, Reading.asked(given), found, own, stop_of(given))


def stop_of(given: Mapping[str, str]) -> int:
    """The stop that is asked for, from 1; 0 for none."""
    stop = given.get("stop", "")
    return int(stop) if stop.isdecimal() and len(stop) <= _DIGITS else 0


async def looked_at(
    session: Session, scope: Scope, reading: Reading, found: Listing, given: Marks, stop: int
) -> Asked:
    """At a stop of the scope's tour, if it has one."""
    tour = await in_db(tours.of, session.id, scope.query()) if stop else None
    if tour is None:
        return Asked(session, scope, reading, found, given, found)
    way = await asyncio.to_thread(route, tour, found)
    here = await asyncio.to_thread(at_stop, found, way, stop)
    return Asked(session, scope, reading, here, given, found, way)


async def _found(session: Session, scope: Scope, *, recent: bool) -> Listing:
    cursor = await in_db(events.latest)
    made, seen, found = _recent.get((session.id, scope), (0.0, -1, None))
    if found is None or not recent or seen != cursor or monotonic() - made > RECENT:
        found = await listing(session, scope)
        _recent.pop((session.id, scope), None)
        _recent[session.id, scope] = (monotonic(), cursor, found)
        if len(_recent) > _MOST:
            _recent.pop(next(iter(_recent)))
    return found
