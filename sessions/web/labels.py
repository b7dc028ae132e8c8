"""The dialog of labels, for one session or for several that are chosen."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.http import HttpRequest, HttpResponse

from sessions.core.db import in_db
from sessions.core.models import Label
from sessions.core.store import labels
from sessions.web.access import find_sessions, project_of
from sessions.web.respond import beside, done, fragment


async def choose(request: HttpRequest, project_id: str) -> HttpResponse:
    """GET the dialog for each `session`. POST gives them each `label`, and a `new` one in a `colour`, and
    takes away what all of them `had` and is no `label` any more."""
    project = await project_of(project_id)
    given = request.POST if request.method == "POST" else request.GET
    rows = await in_db(find_sessions, project.id, given.getlist("session"))
    if request.method != "POST":
        ids = [row.id for row in rows]
        return fragment(
            "labels/dialog.html",
            project=project,
            sessions=rows,
            labels=await in_db(labels.every),
            had=await in_db(labels.common, ids),
            colours=Label.Colour.choices,
        )
    new, colour = given.get("new", ""), given.get("colour", "")
    chosen, had = given.getlist("label"), given.getlist("had")
    try:
        await in_db(_choose, [row.id for row in rows], chosen, had, new, colour)
    except labels.Refused as problem:
        return beside("labels", str(problem))
    return done()


@transaction.atomic
def _choose(ids: Sequence[str], chosen: Sequence[str], had: Sequence[str], new: str, colour: str) -> None:
    give = [*chosen, labels.make(new, colour).name] if new.strip() else chosen
    labels.choose(ids, give=give, take=set(had) - set(give))
