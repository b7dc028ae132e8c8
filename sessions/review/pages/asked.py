"""What a page of the review is asked for, and what every answer of it needs."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic

from django.http import HttpRequest

from sessions.db import in_db
from sessions.models import Session
from sessions.review.reading.query import Reading
from sessions.review.verdicts.listing import Listing, listing
from sessions.review.verdicts.scopes import Scope
from sessions.store import events, marks
from sessions.store.marks import Marks

RECENT = 3.0
"""Seconds for which a list of files serves the requests for the diffs of its files."""
_MOST = 8  # lists that are remembered

_recent: dict[tuple[str, Scope], tuple[float, int, Listing]] = {}


@dataclass(frozen=True, slots=True)
class Asked:
    """The scope and the reading that were chosen, the files found, and the marks on them."""

    session: Session
    scope: Scope
    reading: Reading
    found: Listing
    marks: Marks

    @property
    def staged(self) -> bool:
        return self.scope.kind == "staged"


async def asked(request: HttpRequest, session: Session, *, recent: bool = False) -> Asked:
    """From a query (`GET`) or a form (`POST`): scope, message, part; view, w. With `recent` the list of files
    may be a few seconds old, unless anything has happened since; how it stands with each hunk is read anew.
    """
    given = {**request.GET.dict(), **request.POST.dict()}
    scope = Scope.asked(given)
    found = await _found(session, scope, recent=recent)
    return Asked(session, scope, Reading.asked(given), found, await in_db(marks.of_session, session.id))


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
