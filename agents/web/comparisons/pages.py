"""Comparisons: those of a project, the page of one, what each attempt came to, their changes."""

from __future__ import annotations

from hashlib import sha256

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET

from agents.web.comparisons import diffs, shown
from sessions.core.db import in_db
from sessions.core.models import Attempt, Comparison
from sessions.core.store import comparisons
from sessions.rendering.diffs.table import View
from sessions.rendering.html import html
from sessions.web.access import project_of
from sessions.web.respond import done, fragment, page


@require_GET
async def listing(request: HttpRequest, project_id: str) -> HttpResponse:
    """The newest first."""
    project = await project_of(project_id)
    rows = await in_db(lambda: shown.listed(comparisons.listing([project.id])))
    return await page(request, "comparisons/list.html", project=project, rows=rows)


@require_GET
async def show(request: HttpRequest, project_id: str, comparison_id: str) -> HttpResponse:
    """The page of one, which asks by itself how it stands as long as it goes on."""
    comparison, attempts = await found(project_id, comparison_id)
    state, _ = await in_db(_state, comparison, attempts)
    names = await in_db(lambda: [(row, shown.name_of(comparison, row)) for row in attempts])
    project = comparison.project
    return await page(
        request, "comparisons/page.html", comparison=comparison, project=project, state=state, names=names
    )


@require_GET
async def state(request: HttpRequest, project_id: str, comparison_id: str) -> HttpResponse:
    """How it stands; nothing where that is as it was `seen`."""
    comparison, attempts = await found(project_id, comparison_id)
    made, digest = await in_db(_state, comparison, attempts)
    return done() if request.GET.get("seen") == digest else HttpResponse(made)


def _state(comparison: Comparison, attempts: list[Attempt]) -> tuple[str, str]:
    rows = shown.rows_of(comparison, attempts)
    going = shown.goes_on(comparison, attempts)
    told = {"comparison": comparison, "rows": rows, "state": shown.state_of(comparison), "going": going}
    table = html("comparisons/table.html", **told)
    digest = sha256(table.encode()).hexdigest()[:16]
    return html("comparisons/state.html", table=table, digest=digest, **told), digest


@require_GET
async def log(_: HttpRequest, project_id: str, comparison_id: str, number: int) -> HttpResponse:
    """What was found of an attempt, with its evidence."""
    comparison, attempts = await found(project_id, comparison_id)
    row = attempt_of(attempts, str(number))
    made = (await in_db(shown.rows_of, comparison, [row]))[0]
    return fragment("comparisons/log.html", comparison=comparison, row=made)


@require_GET
async def diff(request: HttpRequest, project_id: str, comparison_id: str) -> HttpResponse:
    """`?attempt=`: what it changed; with `against` how it differs from that one. `view` is unified or
    split. What an attempt that goes on has changed by now is asked for again and again."""
    comparison, attempts = await found(project_id, comparison_id)
    query = request.GET
    view: View = "split" if query.get("view") == "split" else "unified"
    new = attempt_of(attempts, query.get("attempt", ""))
    old = attempt_of(attempts, query["against"]) if query.get("against") else None
    going = old is None and new.state in (Attempt.State.WAITING, Attempt.State.MAKING, Attempt.State.RUNNING)
    begun = all(row.session for row in (new, old) if row)
    made = await diffs.changes(old, new, view, pick=old is None and not going) if begun else None
    return fragment("comparisons/diff.html", comparison=comparison, new=new, old=old, shown=made, going=going)


async def found(project_id: str, comparison_id: str) -> tuple[Comparison, list[Attempt]]:
    """Raises Http404."""
    comparison = await in_db(comparisons.get, comparison_id)
    if comparison is None or comparison.project_id != project_id:
        raise Http404(gettext("This comparison is not known here."))
    return comparison, await in_db(comparisons.attempts, comparison)


def attempt_of(attempts: list[Attempt], number: str) -> Attempt:
    """Raises Http404."""
    row = next((row for row in attempts if str(row.number) == number), None)
    if row is None:
        raise Http404(gettext("There is no such attempt."))
    return row
