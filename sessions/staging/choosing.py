"""A conflict on keeping, in the review panel: both sides of each hunk with a way to choose."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse

from sessions.db import in_db
from sessions.models import Session
from sessions.pages.respond import beside
from sessions.review.conflicts import sides
from sessions.review.display.files import file_id
from sessions.review.marking import picks
from sessions.review.pages.answers import answered
from sessions.review.pages.asked import Asked
from sessions.review.reading.query import Reading
from sessions.review.verdicts.judging import judge
from sessions.review.verdicts.listing import listing
from sessions.review.verdicts.scopes import Scope
from sessions.staging.verdicts import StagingRefused
from sessions.store import marks


async def in_panel(request: HttpRequest, session: Session) -> Asked:
    """What waits, read as the form says (view, w)."""
    scope = Scope("staged")
    found = await listing(session, scope)
    given = await in_db(marks.of_session, session.id)
    return Asked(session, scope, Reading.asked(request.POST.dict()), found, given)


async def offered(request: HttpRequest, session: Session, refusal: StagingRefused) -> HttpResponse:
    """The file again, with a form at each of its hunks that is in conflict; where there is nothing to choose
    between, why it was refused."""
    key = request.POST.get("file", "")
    entry = next((entry for entry in refusal.outcome if entry["path"] == key), None)
    shown = await in_panel(request, session)
    hunks: dict[str, str] = {}
    if entry is not None and entry["outcome"] == "conflict":
        hunks = await asyncio.to_thread(_conflicts, shown, key, request.POST.getlist("hunk"))
    if entry is None or not hunks:
        return beside(file_id(key), str(refusal))
    response = await answered(shown, [key], outcome=[{**entry, "hunks": hunks}])
    response["HX-Retarget"], response["HX-Reswap"] = "#review", "innerHTML"
    return response


def _conflicts(shown: Asked, key: str, asked: list[str]) -> dict[str, str]:
    """The hunks of a file (of those asked for, if any are) that have two sides to choose between."""
    file = shown.found.file(key)
    if file is None:
        return {}
    wanted = asked or picks(judge(file, shown.found))
    found = {pick: sides(file, shown.found, pick) for pick in wanted}
    return {pick: "conflict" for pick, both in found.items() if both is not None and both.conflicts}
