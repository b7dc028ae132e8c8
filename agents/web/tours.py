"""The dialog that has a tour of a change made."""

from __future__ import annotations

from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

from agents.agent import tour as tours
from agents.agent.tour import NoTour
from agents.toolkit.catalog import providers_of
from sessions.changes.review.verdicts import Scope
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.principal import acting
from sessions.core.store import tours as store
from sessions.web.access import session_of
from sessions.web.respond import beside, done, fragment


@require_http_methods(["GET", "POST"])
async def tour(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Of what a scope shows. GET the dialog; POST makes it, by `by` (`provider/model`, empty: the small one),
    and goes to its first stop."""
    session = await session_of(project_id, session_id)
    if request.method != "POST":
        return await _dialog(session, Scope.asked(request.GET.dict()))
    scope = Scope.asked(request.POST.dict())
    try:
        await tours.make(session, scope, request.POST.get("by", ""), acting.get())
    except NoTour as problem:
        return beside("tour", str(problem))
    chosen = {"scope": scope.kind, "message": scope.message, "part": scope.part, "stop": "1"}
    return done(**{"review:choose": {"target": "#review", **chosen}})


async def _dialog(session: Session, scope: Scope) -> HttpResponse:
    providers = await providers_of(Path(session.directory))
    models = [model for one in providers.values() for model in one.models.values()]
    made = await in_db(store.of, session.id, scope.query())
    return fragment("review/tour_dialog.html", session=session, scope=scope, models=models, made=made)
