"""The review panel, the undo dialog and the answers to permission requests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET, require_POST

from sessions import actions
from sessions.db import in_db
from sessions.models import Session
from sessions.models.ledger import pack_path
from sessions.pages.access import session_of
from sessions.pages.respond import fragment, refused, toast
from sessions.rendering.plan import plan_panel
from sessions.review.diffs import Changed, changed
from sessions.review.display import words
from sessions.review.display.panel import file_body, file_rows
from sessions.review.display.table import FIRST_ROWS, View
from sessions.review.reverting import Preview, RevertRefused, UnknownMessage, preview, revert, unrevert
from sessions.store import permissions, reverts, turns


@dataclass(frozen=True, slots=True)
class Asked:
    """What the panel is asked to show; `message` is empty for the session as a whole."""

    scope: str
    message: str
    view: View


@require_GET
async def panel(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?scope=session|turn&message=&view=unified|split`: the files changed; without message the last turn."""
    session = await session_of(project_id, session_id)
    asked, found = await _asked(request, session)
    files = await asyncio.to_thread(file_rows, found, asked.view)
    return fragment(
        "review/panel.html",
        session=session,
        base=_base(session),
        asked=asked,
        files=files,
        total={
            "additions": sum(file.additions for file in files),
            "deletions": sum(file.deletions for file in files),
        },
        problem=found.project.problem,
        plan=mark_safe(await in_db(plan_panel, session, oob=False)),  # noqa: S308 (a rendered template)
    )


@require_GET
async def file(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`?path=` of the panel's file, in the same scope; `&all=1` without the limit on rows."""
    session = await session_of(project_id, session_id)
    asked, found = await _asked(request, session)
    key = request.GET.get("path", "")
    change = next((change for change in found.files if pack_path(change.path) == key), None)
    if change is None:
        return fragment("review/gone.html")
    limit = None if "all" in request.GET else FIRST_ROWS
    body = await asyncio.to_thread(file_body, change, found.project.objects, asked.view, limit=limit)
    return fragment("review/body.html", body=body, key=key, asked=asked, base=_base(session))


async def undo(request: HttpRequest, project_id: str, session_id: str, message_id: str) -> HttpResponse:
    """GET what undoing from a message would do, POST does it."""
    session = await session_of(project_id, session_id)
    try:
        if request.method == "POST":
            await revert(session, message_id)
            return await _carried_out(session, "Undone")
        shown = await preview(session, message_id)
    except UnknownMessage as error:
        raise Http404(str(error)) from error
    except RevertRefused as error:
        return _beside("undo", str(error))
    return await _dialog(session, shown)


@require_POST
async def redo(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    if not session.revert:
        return toast("There is nothing to redo: a new prompt made the undo final, or it was redone already.")
    try:
        await unrevert(session)
    except RevertRefused as error:
        return toast(str(error))
    return toast(await _ended(session, "Redone"))


@require_POST
async def reply(request: HttpRequest, request_id: str) -> HttpResponse:
    """`answer` is once, always or reject; `words` go to the model with a rejection."""
    row = await in_db(permissions.get, request_id)
    if row is None or row.session.time_deleted is not None:
        raise Http404("This question is not known here.")
    answer = request.POST.get("answer", "")
    if answer not in permissions.REPLIES or (answer == "always" and not row.always):
        return _beside(request_id, "This is no answer to the question.")
    said = request.POST.get("words", "").strip() if answer == "reject" else ""
    if await actions.reply(row.id, answer, said[:4000]) is None:
        row = await in_db(permissions.get, request_id)
        return _beside(request_id, words.answered(row.state if row else "cancelled"))
    return HttpResponse("")


async def _asked(request: HttpRequest, session: Session) -> tuple[Asked, Changed]:
    scope = "turn" if request.GET.get("scope") == "turn" else "session"
    view: View = "split" if request.GET.get("view") == "split" else "unified"
    message = request.GET.get("message", "") if scope == "turn" else ""
    if scope == "turn" and not message:
        message = await in_db(turns.last_prompt, session.id)
    return Asked(scope, message, view), await changed(session, message or None)


async def _dialog(session: Session, shown: Preview) -> HttpResponse:
    prompts, text = await in_db(turns.from_prompt, session.id, shown.point.message_id)
    return fragment(
        "review/undo.html",
        base=_base(session),
        message_id=shown.point.message_id,
        prompts=prompts,
        text=text,
        files=[words.described(plan) for plan in shown.files],
        problem=shown.problem,
    )


async def _carried_out(session: Session, done: str) -> HttpResponse:
    """Closes the dialog, with a note of what came of it."""
    return fragment("review/undone.html", text=await _ended(session, done))


async def _ended(session: Session, done: str) -> str:
    operation = await in_db(reverts.last, session.id)
    return words.ended(done, operation.outcome if operation else [])


def _beside(name: str, message: str) -> HttpResponse:
    """Why something was not done, beside its buttons; they stay."""
    response = refused(message)
    response["HX-Retarget"] = f"#{name}-problem"
    response["HX-Reswap"] = "innerHTML"
    return response


def _base(session: Session) -> str:
    return f"/p/{session.project_id}/s/{session.id}"
