"""The answers to permission requests, and what their cards ask for meanwhile: editor, diff, past calls."""

from __future__ import annotations

import asyncio

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_GET, require_POST

from sessions import actions
from sessions.db import in_db
from sessions.models import PermissionRequest
from sessions.pages.respond import actor, beside, fragment, place
from sessions.store import permissions

from . import words
from .answers import NoAnswer, changed, given
from .cards import INBOX, MOST_ROWS, card, has_parts, shown_file
from .kinds import details
from .past import past
from .proposals import NothingLeft, Proposal, whole_proposals

MOST_EDITOR_ROWS = 9
FEWEST_EDITOR_ROWS = 4
MOST_PATTERNS = 20


@require_POST
async def reply(request: HttpRequest, request_id: str) -> HttpResponse:
    """`answer` is once, always or reject, `hash` that of the request as it was shown; see `answers.given`.

    A refusal is told beside the buttons, and all that was typed stays.
    """
    row = await _known(request_id)
    where = place(request, row.id, INBOX)
    try:
        said = await asyncio.to_thread(given, request, row, actor(request))
        taken = await actions.reply(row.id, said.answer, said.words, **said.how)
    except (NoAnswer, NothingLeft, permissions.ReplyRefused) as problem:
        return beside(where, str(problem))
    if taken is None:
        now = await in_db(permissions.get, row.id)
        return beside(where, words.settled(now.state if now else "cancelled"))
    return HttpResponse("")


@require_GET
async def whole(request: HttpRequest, request_id: str) -> HttpResponse:
    """The card, as the inbox shows it."""
    row = await _known(request_id)
    return fragment("approvals/card.html", card=await in_db(card, row, None, INBOX))


@require_GET
async def file(request: HttpRequest, request_id: str) -> HttpResponse:
    """`?file=`: one file of the proposal, as it was proposed; `rows` of it, where it is long."""
    row = await _known(request_id)
    files, number = await _files(row, request.GET.get("file", ""))
    rows = request.GET.get("rows", "")
    room = int(rows) if rows.isdecimal() and len(rows) < 10 else MOST_ROWS
    shown = await asyncio.to_thread(shown_file, files[number], room, has_parts(files))
    return fragment("approvals/file.html", card=_place(request, row), file=shown)


@require_GET
async def rest(request: HttpRequest, request_id: str) -> HttpResponse:
    """What of a long command or of arguments is folded."""
    row = await _known(request_id)
    told = await asyncio.to_thread(details, row, row.session.project.worktree)
    return fragment("approvals/rest.html", told=told)


@require_POST
async def edit(request: HttpRequest, request_id: str) -> HttpResponse:
    """The proposed content of `file` in a text field, with the hunks that are chosen."""
    row = await _known(request_id)
    files, number = await _files(row, request.POST.get("file", ""))
    file = files[number]
    if not file.editable:
        raise Http404("This file cannot be edited here.")
    picks, _ = changed(request.POST, files)
    content = file.picked(picks[number]) if number in picks else file.after or ""
    return fragment(
        "approvals/editor.html",
        card=_place(request, row),
        file=file,
        content=content.replace("\r\n", "\n"),
        rows=max(FEWEST_EDITOR_ROWS, min(MOST_EDITOR_ROWS, content.count("\n") + 2)),
        shown=await asyncio.to_thread(shown_file, file.changed_to(content), pickable=False),
    )


@require_POST
async def preview(request: HttpRequest, request_id: str) -> HttpResponse:
    """The diff of `file` with what is typed in its field."""
    row = await _known(request_id)
    files, number = await _files(row, request.POST.get("file", ""))
    typed = changed(request.POST, files)[1].get(number, "")
    content = files[number].typed(typed)
    shown = await asyncio.to_thread(shown_file, files[number].changed_to(content), pickable=False)
    return fragment("approvals/renewed.html", shown=shown)


@require_GET
async def matches(request: HttpRequest, request_id: str) -> HttpResponse:
    """`?pattern=` (several): which past calls rules of these patterns would have matched."""
    row = await _known(request_id)
    patterns = [pattern.strip() for pattern in request.GET.getlist("pattern") if pattern.strip()]
    found = [await in_db(past, row, pattern) for pattern in patterns[:MOST_PATTERNS]]
    return fragment("approvals/matches.html", found=found)


async def _known(request_id: str) -> PermissionRequest:
    row = await in_db(_row, request_id)
    if row is None:
        raise Http404("This question is not known here.")
    return row


def _row(request_id: str) -> PermissionRequest | None:
    """With its session and project; None also where the session is deleted."""
    rows = PermissionRequest.objects.select_related("session__project")
    return rows.filter(id=request_id, session__time_deleted=None).first()


async def _files(row: PermissionRequest, number: str) -> tuple[list[Proposal], int]:
    """The files of a proposal, and the number of the one that is asked for."""
    files = await asyncio.to_thread(whole_proposals, row)
    if not number.isdecimal() or int(number) >= len(files):
        raise Http404("There is no such file in this proposal.")
    return files, int(number)


def _place(request: HttpRequest, row: PermissionRequest) -> dict[str, str]:
    """What a part of a card has to know of it: the same request may be shown twice on a page."""
    return {"id": row.id, "key": place(request, row.id, INBOX)}
