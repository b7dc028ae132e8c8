"""The review panel: the files of a scope, and the diffs of those that come into view."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET

from sessions.changes.diffs.images import image as image_of
from sessions.changes.review.marking import hunk_mark
from sessions.changes.review.standing import standing
from sessions.changes.review.verdicts import Scope, listing
from sessions.changes.snapshots.objects import ObjectMissing
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.plans import is_plan
from sessions.core.principal import acting
from sessions.core.store import ledger, marks, messages, staging, tours, turns
from sessions.core.text import visible
from sessions.rendering.tools import card
from sessions.web.access import session_of
from sessions.web.respond import fragment
from sessions.web.review.display.files import (
    FileRow,
    blocks,
    bodies,
    file_row,
    file_rows,
    sheet,
    totals,
    tree,
)
from sessions.web.review.display.touring import at
from sessions.web.review.pages.answers import Asked, asked

_LONGEST = 40

ELSEWHERE = gettext_noop("Choose Session above to see all that it changed.")
EMPTY = {
    "call": (gettext_noop("This call changed no files"), ELSEWHERE),
    "turn": (gettext_noop("This turn changed no files"), ELSEWHERE),
    "session": (
        gettext_noop("No files changed yet"),
        gettext_noop("What the agent changes appears here, to be kept or undone."),
    ),
    "project": (
        gettext_noop("No session of this project has changed files yet"),
        gettext_noop("Ask the agent for a change to begin."),
    ),
    "git": (
        gettext_noop("The working tree is as it was committed"),
        gettext_noop("Choose Session above to see what the agent changed."),
    ),
    "branch": (
        gettext_noop("The branch is as where it began"),
        gettext_noop("Its commits, and what is in none yet, appear here, against the branch that it left."),
    ),
    "staged": (
        gettext_noop("Nothing waits in review mode"),
        gettext_noop("What the agent edits next waits here until you keep it."),
    ),
}
"""By kind of scope: what is so, and what to do next."""
LAST_PROMPT_EMPTY = (gettext_noop("The last prompt changed no files"), ELSEWHERE)
WAITING = (gettext_noop("No file is changed yet"), gettext_noop("The edits wait in review mode."))


@dataclass(frozen=True, slots=True)
class Option:
    """One entry of the control."""

    scope: Scope
    label: str
    chosen: bool


def options(session: Session, chosen: Scope) -> list[Option]:
    """Those that are always there, and the one turn or call chosen elsewhere. On the ORM's thread."""
    known = [
        (Scope("turn"), gettext("Last prompt")),
        (Scope("session"), gettext("Session")),
        (Scope("project"), gettext("Project")),
        (Scope("git"), gettext("Git: uncommitted")),
        (Scope("branch"), gettext("Git: branch")),
    ]
    if chosen.kind == "staged" or staging.files(session):
        known.append((Scope("staged"), gettext("Staged")))
    if chosen not in (scope for scope, _ in known):
        known.insert(0, (chosen, _named(session, chosen)))
    return [Option(scope, label, scope == chosen) for scope, label in known]


def empty(scope: Scope, known: Sequence[Option]) -> tuple[str, str]:
    """What is said where a scope has no files; `known` are the options beside it."""
    if scope.kind in ("turn", "session") and any(option.scope.kind == "staged" for option in known):
        return told(WAITING)
    return told(LAST_PROMPT_EMPTY if scope == Scope("turn") else EMPTY[scope.kind])


def told(words: tuple[str, str]) -> tuple[str, str]:
    return gettext(words[0]), gettext(words[1])


def _named(session: Session, scope: Scope) -> str:
    if scope.kind == "call":
        part = messages.part(session.id, scope.part)
        if part is None or part["type"] != "tool":
            return gettext("One call")
        shown = card(part, session.directory)
        return _short(f"{shown.label} {shown.subtitle}")
    point = ledger.locate(session.id, scope.message)
    text = turns.from_prompt(session.id, point.message_id)[1] if point else ""
    return gettext("Turn: %(text)s") % {"text": _short(text)} if text else gettext("One turn")


def _short(text: str) -> str:
    line = visible(" ".join(text.split()))
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


MOST = 40
"""Files whose diffs are asked for at once."""


@require_GET
async def panel(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?scope=&message=&part=&view=&w=`: the files changed, with `&stop=` those of a stop of their tour;
    `&bare=1` without diffs, where they are shown."""
    session = await session_of(project_id, session_id)
    shown = await asked(request, session)
    base, bare = session.get_absolute_url(), "bare" in request.GET
    rows, every = await asyncio.to_thread(_rows, shown, base, bare)
    choices = await in_db(options, session, shown.scope)
    toured = shown.route is not None or await in_db(tours.of, session.id, shown.scope.query()) is not None
    return fragment(
        "review/panel.html",
        base=base,
        session=session,
        asked=shown,
        toured=toured,
        stop=at(shown.route, shown.found.stop) if shown.route else None,
        options=choices,
        files=await asyncio.to_thread(sheet, rows, staged=shown.staged),
        tree=await asyncio.to_thread(tree, rows),
        total=totals(every),
        empty=empty(shown.scope, choices),
        waiting=told(WAITING),
        problem=shown.found.problem,
    )


def _rows(shown: Asked, base: str, bare: bool) -> tuple[list[FileRow], list[FileRow]]:
    """The files that are shown, and all of the scope."""
    rows = file_rows(shown.found, shown.marks, shown.reading, base, bare=bare)
    if shown.route is None:
        return rows, rows
    return rows, file_rows(shown.whole, shown.marks, shown.reading, base, bare=True)


@require_GET
async def files(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?path=` of files of the panel, in the same scope: each with its diffs."""
    session = await session_of(project_id, session_id)
    shown = await asked(request, session, recent=True)
    wanted = set(request.GET.getlist("path")[:MOST])
    chosen = [file for file in shown.found.files if file.key in wanted]
    base = session.get_absolute_url()
    rows = await asyncio.to_thread(
        lambda: [file_row(file, shown.found, shown.marks, shown.reading, base) for file in chosen]
    )
    return HttpResponse(blocks(rows, staged=shown.staged))


_INERT = "sandbox; default-src 'none'; style-src 'unsafe-inline'"


@require_GET
async def file(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?path=&step=` in the scope: the body of a file; with `rows` or `gap` that part of its table."""
    session = await session_of(project_id, session_id)
    shown = await asked(request, session, recent=True)
    found = shown.found.file(request.GET.get("path", ""))
    step = request.GET.get("step", "0")
    if found is None or not step.isdecimal() or int(step) >= len(found.steps):
        raise Http404(gettext("This file is no longer among the changes."))
    made = await asyncio.to_thread(
        bodies, found, shown.found, shown.marks, shown.reading, session.get_absolute_url(), step=int(step)
    )
    return HttpResponse("".join(made))


@require_GET
async def lines(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`{"stretches": [{"key", "kept", "line", "count", "removed"}], "seen"}`: what the session did to the
    file `?path=` and is there as it was left (`standing`); `seen` is the content that holds for."""
    session = await session_of(project_id, session_id)
    path = request.GET.get("path", "")
    found = await listing(session, Scope(), (path,))
    given = await in_db(marks.of_session, session.id, acting.get())
    file = found.file(path)
    if file is None or is_plan(file.path):
        return JsonResponse({"stretches": [], "seen": ""})
    stretches, seen = await asyncio.to_thread(standing, file, found)
    told = [{**asdict(one), "kept": hunk_mark(file, one.key) in given.kept} for one in stretches]
    return JsonResponse({"stretches": told, "seen": seen})


@require_GET
async def image(request: HttpRequest, project_id: str, session_id: str, oid: str) -> HttpResponse:
    """One side of an image among the changes of the scope; nothing else is served from here."""
    session = await session_of(project_id, session_id)
    found = await listing(session, Scope.asked(request.GET.dict()))
    file = found.file(request.GET.get("path", ""))
    if file is None or oid not in {side for step in file.steps for side in (step.before, step.after)}:
        raise Http404(gettext("This is no image of these changes."))
    try:
        content = await asyncio.to_thread(found.roots.of(file.path).objects.get, oid)
    except ObjectMissing as error:
        raise Http404(gettext("The content is no longer at hand.")) from error
    seen = await asyncio.to_thread(image_of, content, file.renamed_from or file.path)
    if seen is None:
        raise Http404(gettext("This is no image."))
    response = HttpResponse(content, content_type=seen.kind)
    response["Content-Security-Policy"] = _INERT
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    return response
