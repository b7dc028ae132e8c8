"""Review mode: its switch and what waits beside the composer, keeping and dropping it.

A verdict on whole files carries `drawn`, the seals of what the page showed: nothing else is kept or dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_GET, require_POST

from sessions.changes.operations.lock import Refused
from sessions.changes.operations.staged import drop, keep, left_words, resolve, take_back
from sessions.changes.review.conflicts import chosen, sides
from sessions.changes.review.marking import picks
from sessions.changes.review.staged import listed, seals, waiting
from sessions.changes.review.verdicts import Scope, judge, listing
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from sessions.core.principal import acting, actor
from sessions.core.store import marks, operations, staging
from sessions.core.store.family import topmost
from sessions.rendering.diffs.table import Reading
from sessions.rendering.html import html
from sessions.web.access import session_of
from sessions.web.respond import beside, done, fragment, refused
from sessions.web.review.display.files import file_id
from sessions.web.review.pages.answers import Asked, answered, looked_at, stop_of


def staging_switch(session: Session, *, oob: bool = True) -> str:
    """Turns review mode on and off; a subagent's session has none, as it stages into the one above."""
    return html("staging/switch.html", session=session, base=session.get_absolute_url(), oob=oob)


def staged_bar(session: Session, *, oob: bool = True) -> str:
    """Above the composer: that review mode is on, and what can be done about what waits."""
    rows, roots = waiting(session)
    files = [] if session.parent_id else rows
    return html(
        "staging/bar.html",
        session=session,
        base=session.get_absolute_url(),
        count=len(files),
        drawn=seals(files, roots),
        own=sum(row.guarded for row in files),
        on=session.staging and not session.parent_id,
        oob=oob,
    )


MOST_WORDS = 2000


@require_GET
async def files(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """The staged files, with what can be done about each."""
    session = await session_of(project_id, session_id)
    rows, roots = await in_db(waiting, session)
    found = await asyncio.to_thread(listed, rows, roots)
    return fragment(
        "staging/files.html", base=session.get_absolute_url(), files=found, drawn=seals(rows, roots)
    )


@require_POST
async def keep_picked(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`file`s by packed path (none: all), `hunk`s of one file (none: all of it), `words` for the agent; in
    the review `panel` a conflict is answered with both sides."""
    session = await session_of(project_id, session_id)
    return await _answer(
        request,
        session,
        lambda: keep(session, _picks(request.POST), **_given(request)),
    )


@require_POST
async def settle(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """What a person made of the conflict on keeping a `hunk` of `file`: `choice-N` is file, other or hand
    (`text-N`); `seen` is the file they saw."""
    session = await session_of(project_id, session_id)
    key, hunk = request.POST.get("file", ""), request.POST.get("hunk", "")
    shown = await in_panel(request, session)
    file = shown.found.file(key)
    both = await asyncio.to_thread(sides, file, shown.found, hunk) if file else None
    seen = request.POST.get("seen", "")
    if both is None or both.seen != seen:
        return beside(
            file_id(key), gettext("This has been changed since you opened it. Press Keep once more.")
        )
    content, picks = chosen(both, request.POST.dict()), {key: [hunk] if hunk else None}
    return await _answer(request, session, lambda: resolve(session, picks, content, seen, **_given(request)))


@require_POST
async def drop_picked(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """The same fields as for keeping."""
    session = await session_of(project_id, session_id)
    return await _answer(
        request,
        session,
        lambda: drop(session, _picks(request.POST), **_given(request)),
    )


@require_POST
async def back(request: HttpRequest, project_id: str, session_id: str, operation_id: str) -> HttpResponse:
    """Take back a verdict on what was staged."""
    session = await session_of(project_id, session_id)
    given = await in_db(operations.get, project_id, operation_id)
    if given is None or given.session_id != (await in_db(topmost, session)).id:
        raise Http404(gettext("This is not known here."))
    return await _answer(request, session, lambda: take_back(session, operation_id, actor=actor(request)))


@require_POST
async def mode(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`on` is 1 or 0. Turning it off while something waits asks what is to become of it, unless
    `then` says so: keep, drop, leave."""
    session = await session_of(project_id, session_id)
    on, then = request.POST.get("on") == "1", request.POST.get("then", "")
    rows, roots = await in_db(waiting, session)
    if on or not rows:
        await in_db(staging.switch, session, on)
        return done()
    if then not in ("keep", "drop", "leave"):
        return fragment(
            "staging/off.html",
            base=session.get_absolute_url(),
            count=len(rows),
            drawn=seals(rows, roots),
        )
    try:
        text = await _settled(session, then, request)
    except Refused as error:
        return beside("staging-off", str(error))
    await in_db(staging.switch, session, False)
    return fragment("staging/noted.html", text=gettext("Review mode is off. %(text)s") % {"text": text})


async def _settled(session: Session, then: str, request: HttpRequest) -> str:
    """Do with all that waits what was chosen; in words."""
    if then == "leave":
        return gettext("What was staged goes on waiting.")
    operation = await (keep if then == "keep" else drop)(session, None, **_given(request))
    return _said(operation)


async def _answer(
    request: HttpRequest, session: Session, act: Callable[[], Awaitable[Operation]]
) -> HttpResponse:
    """With `noted` a note that can take it back; else nothing, or in words what goes on waiting."""
    noted = "noted" in request.POST
    try:
        operation = await act()
    except Refused as error:
        if "panel" in request.POST:
            return await offered(request, session, error)
        return beside("staged", str(error)) if noted else refused(str(error))
    if noted:
        return fragment(
            "staging/toast.html", base=session.get_absolute_url(), operation=operation, text=_said(operation)
        )
    if left := left_words(operation.outcome):
        return refused(left)
    return done(**{"review.changed": session.id})


def _said(operation: Operation) -> str:
    count = sum(entry["outcome"] in operations.APPLIED for entry in operation.outcome)
    text = {
        "keep": ngettext("Kept %(count)s file.", "Kept %(count)s files.", count),
        "drop": ngettext("Dropped %(count)s file.", "Dropped %(count)s files.", count),
        "restage": ngettext("Staged again: %(count)s file.", "Staged again: %(count)s files.", count),
    }[operation.kind] % {"count": count}
    return f"{text} {left_words(operation.outcome)}".strip()


def _picks(form: QueryDict) -> dict[str, Collection[str] | None] | None:
    """None for all that waits."""
    paths, hunks = form.getlist("file"), form.getlist("hunk")
    if not paths:
        return None
    return {paths[0]: hunks} if hunks else dict.fromkeys(paths)


def _given(request: HttpRequest) -> dict[str, Any]:
    """What every verdict takes from its form."""
    words = request.POST.get("words", "").strip()[:MOST_WORDS]
    return {"drawn": request.POST.get("drawn", "").split(), "words": words, "actor": actor(request)}


async def in_panel(request: HttpRequest, session: Session) -> Asked:
    """What waits, read as the form says (view, w)."""
    scope = Scope("staged")
    found = await listing(session, scope)
    given = await in_db(marks.of_session, session.id, acting.get())
    form = request.POST.dict()
    return await looked_at(session, scope, Reading.asked(form), found, given, stop_of(form))


async def offered(request: HttpRequest, session: Session, refusal: Refused) -> HttpResponse:
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
