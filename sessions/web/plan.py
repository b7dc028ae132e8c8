"""The plan of a session: read, commented, compared with what it was, edited, and approved where no question
asks about it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from sessions.changes import actions
from sessions.changes.diffs.lines import changed_spans
from sessions.changes.snapshots.objects import ObjectMissing
from sessions.changes.tracking import tracker
from sessions.core import plans
from sessions.core.db import in_db
from sessions.core.models import FileChange, Session
from sessions.core.plans import plan_source, plan_text, plan_title, shown_path
from sessions.core.store import comments as store
from sessions.core.store import ledger
from sessions.core.text import visible
from sessions.rendering.diffs.table import Notes
from sessions.rendering.html import html
from sessions.rendering.passages import Passage, narrowed, passages
from sessions.rendering.plan import is_planning, pending_approval
from sessions.web.access import session_of
from sessions.web.comments import MAX_TEXT, OF_A_PLAN, add_to_text, line_number, notes
from sessions.web.respond import beside, done, fragment, refused

BUILDER = "build"


@dataclass(frozen=True, slots=True)
class Shown:
    """A passage of the plan with the comments on its lines."""

    passage: Passage
    html: SafeString
    notes: SafeString


def plan_panel(session: Session, *, oob: bool = True) -> str:
    """The plan as it is now, to be read, commented and edited; an empty element where there is none."""
    source = plan_source(session)
    there = bool(source.strip())
    return html(
        "plan/panel.html",
        session=session,
        base=session.get_absolute_url(),
        shown=_commented(session, source) if there else (),
        path=visible(shown_path(session)) if there else "",
        title=visible(plan_title(source)) if there else "",
        question=pending_approval(session) if there else None,
        planning=is_planning(session),
        oob=oob,
    )


def _commented(session: Session, source: str) -> list[Shown]:
    threads = store.threads(session.id).get(shown_path(session), ())
    below = notes(threads, None, source.encode(), session.get_absolute_url())
    found = passages(source)
    ends = [*(one.start - 1 for one in found[1:]), source.count("\n") + 1]
    return [
        Shown(one, _safe(one.html), _under(below, one.start, end))
        for one, end in zip(found, ends, strict=True)
    ]


def _under(below: Notes, start: int, end: int) -> SafeString:
    """The comments on lines of a passage, and of the gap behind it."""
    return _safe(
        "".join(note for (side, line), note in below.items() if side == "new" and start <= line <= end)
    )


def _safe(rendered: str) -> SafeString:
    return mark_safe(rendered)  # noqa: S308 (rendered Markdown, sanitised, and rendered templates)


async def comment(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """GET gives the field for a comment on the lines `start` to `end` of the plan, or on those of them in
    which the `words` stand that are selected in it. POST adds `text` about them, as long as the plan is the
    one that was `seen`."""
    session = await session_of(project_id, session_id)
    given = request.GET
    source = await asyncio.to_thread(plan_source, session)
    if request.method != "POST":
        lines = line_number(given, "start"), line_number(given, "end")
        start, end = narrowed(source, *lines, given.get("words", ""))
        return fragment(
            "plan/comment.html",
            base=session.get_absolute_url(),
            start=start,
            end=end,
            seen=plans.version(source),
            words=given.get("words", "")[:MAX_TEXT],
        )
    path, seen = shown_path(session), plans.version(source)
    problem = await add_to_text(request, session, path, source.encode(), seen, OF_A_PLAN)
    return refused(problem) if problem else done()


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage of one version or of both: `kind` is `same`, `old` or `new`."""

    kind: str
    html: SafeString


@require_GET
async def changes(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """What is other in the plan than it was before a change of it: before `since` (its number in the ledger),
    or the last one."""
    session = await session_of(project_id, session_id)
    path = shown_path(session)
    versions = await in_db(ledger.versions, session.project_id, path)
    since = request.GET.get("since", "")
    chosen = next((one for one in versions if str(one.id) == since), versions[0] if versions else None)
    pieces = await asyncio.to_thread(_compared, session, chosen) if chosen else ()
    return fragment(
        "plan/changes.html",
        base=session.get_absolute_url(),
        versions=versions,
        chosen=chosen,
        pieces=pieces,
        differs=any(piece.kind != "same" for piece in pieces),
    )


def _compared(session: Session, change: FileChange) -> Sequence[Piece]:
    """Passage by passage; nothing where the content before is no longer at hand."""
    try:
        before = tracker(session.project).objects.get(change.before).decode("utf-8", "replace")
    except ObjectMissing:
        return ()
    old, new = passages(before), passages(plan_source(session))
    pieces: list[Piece] = []
    at = 0
    for a, b, c, d in changed_spans([one.source for one in old], [one.source for one in new]):
        pieces += [_piece("same", one) for one in new[at:c]]
        pieces += [_piece("old", one) for one in old[a:b]]
        pieces += [_piece("new", one) for one in new[c:d]]
        at = d
    return [*pieces, *(_piece("same", one) for one in new[at:])]


def _piece(kind: str, passage: Passage) -> Piece:
    return Piece(kind, _safe(passage.html))


@require_POST
async def approve(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """The next prompt carries the plan out. Where `plan_exit` asks, its question is answered instead."""
    session = await session_of(project_id, session_id)
    if not await in_db(is_planning, session):
        return beside("plan", gettext("The agent is at work, or no longer in plan mode."))
    if not await in_db(plan_text, session):
        return beside(
            "plan", gettext("There is no plan at %(session)s any more.") % {"session": shown_path(session)}
        )
    text = f"The plan at {shown_path(session)} is approved. Carry it out."
    await actions.prompt(session, [{"type": "text", "text": text}], agent=BUILDER)
    return done()


@require_http_methods(["GET", "POST"])
async def edit(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """GET gives the form. POST writes `text` unless the plan is no longer the one that was `seen`; with
    `anyway` also then."""
    session = await session_of(project_id, session_id)
    try:
        if request.method != "POST":
            text = await asyncio.to_thread(plans.read_plan, session)
            return fragment(
                "plan/editor.html", base=session.get_absolute_url(), text=text, seen=plans.version(text)
            )
        text = request.POST.get("text", "").replace("\r\n", "\n")
        seen = "" if "anyway" in request.POST else request.POST.get("seen", "")
        await asyncio.to_thread(plans.write_plan, session, text, seen)
    except plans.PlanChanged:
        return beside(
            "plan-edit", gettext("The plan was changed since you opened it here."), "plan/changed.html"
        )
    except (OSError, UnicodeDecodeError) as error:
        return beside("plan-edit", gettext("The plan cannot be edited: %(error)s") % {"error": error})
    return HttpResponse(await in_db(plan_panel, session, oob=False))
