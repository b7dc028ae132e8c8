"""The answers to permission requests, and what their cards ask for meanwhile: editor, diff, past calls."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from sessions.changes import actions
from sessions.core.db import in_db
from sessions.core.models import PermissionRequest
from sessions.core.principal import actor
from sessions.core.sentences import grouped
from sessions.core.store import permissions
from sessions.core.store.permissions import SCOPES
from sessions.web.access import stop_url
from sessions.web.approvals import kinds
from sessions.web.approvals.cards import INBOX, MOST_ROWS, card, has_parts, shown_file
from sessions.web.approvals.kinds import details
from sessions.web.approvals.proposals import NothingLeft, Picks, Proposal, replacement, whole_proposals
from sessions.web.approvals.rules import past
from sessions.web.respond import beside, fragment, late, place

MOST_EDITOR_ROWS = 9
FEWEST_EDITOR_ROWS = 4
MOST_PATTERNS = 20


@require_POST
async def reply(request: HttpRequest, request_id: str) -> HttpResponse:
    """`answer` is once, always or reject, `hash` that of the request as it was shown; see `answers.given`.

    A refusal is told beside the buttons, and all that was typed stays. What was answered already is told in a
    toast, and to whoever rejected what now runs it offers to stop that.
    """
    row = await _known(request_id)
    where = place(request, row.id, INBOX)
    try:
        said = await asyncio.to_thread(given, request, row, actor(request))
        taken = await actions.reply(row.id, said.answer, said.words, **said.how)
    except (NoAnswer, NothingLeft, permissions.ReplyRefused) as problem:
        return beside(where, str(problem))
    if taken is None:
        row = await _known(request_id)
        runs = said.answer == "reject" and row.state in ("once", "always")
        return late(kinds.settled(row, actor(request)), stop=stop_url(row.session) if runs else "")
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
        raise Http404(gettext("This file cannot be edited here."))
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
        raise Http404(gettext("This question is not known here."))
    return row


def _row(request_id: str) -> PermissionRequest | None:
    """With its session and project; None also where the session is deleted."""
    rows = PermissionRequest.objects.select_related("session__project")
    return rows.filter(id=request_id, session__time_deleted=None).first()


async def _files(row: PermissionRequest, number: str) -> tuple[list[Proposal], int]:
    """The files of a proposal, and the number of the one that is asked for."""
    files = await asyncio.to_thread(whole_proposals, row)
    if not number.isdecimal() or int(number) >= len(files):
        raise Http404(gettext("There is no such file in this proposal."))
    return files, int(number)


def _place(request: HttpRequest, row: PermissionRequest) -> dict[str, str]:
    """What a part of a card has to know of it: the same request may be shown twice on a page."""
    return {"id": row.id, "key": place(request, row.id, INBOX)}


MOST_WORDS = 4000
MOST_MINUTES = 7 * 24 * 60
_ANSWERS = ("once", "always", "reject")


class NoAnswer(ValueError):
    """The form says nothing that could be done; the text is for the person."""


@dataclass(frozen=True, slots=True)
class Given:
    """Positional and named arguments of `sessions.changes.actions.reply`, after the id of the request."""

    answer: str
    words: str
    how: dict[str, Any]


def given(request: HttpRequest, row: PermissionRequest, actor: str) -> Given:
    """Blocks (contents are compared): call it in a thread. Raises NoAnswer, NothingLeft."""
    form = request.POST
    answer = form.get("answer", "")
    if answer not in _ANSWERS or (answer == "always" and not row.always):
        raise NoAnswer(gettext("This is no answer to the question."))
    if not form.get("hash") and row.arguments_hash:
        raise NoAnswer(gettext("The answer does not say what it is about. Load the page again."))
    how: dict[str, Any] = {"hash": form.get("hash", ""), "actor": actor}
    if answer == "reject":
        return Given(answer, form.get("words", "").strip()[:MOST_WORDS], how)
    if answer == "always":
        how |= _reach(form)
    files = whole_proposals(row)
    if files:
        how["replacement"] = replacement(files, *changed(form, files))
    return Given(answer, "", how)


def changed(form: QueryDict, files: Sequence[Proposal]) -> tuple[Picks, dict[int, str]]:
    """The hunks that stay chosen and the texts that were typed, by the number of the file."""
    offered = {int(number) for number in form.getlist("offered") if number.isdecimal()}
    chosen = [value.partition(":") for value in form.getlist("hunk")]
    picks = {number: [key for owner, _, key in chosen if owner == str(number)] for number in offered}
    typed = {file.number: form.get(f"content{file.number}") for file in files}
    return picks, {number: text for number, text in typed.items() if text is not None}


def _reach(form: QueryDict) -> dict[str, Any]:
    """How far an allow reaches. Without a scope it is the project, as an older page means it."""
    scope = form.get("scope", "project")
    if scope not in SCOPES:
        raise NoAnswer(gettext("There is no such scope."))
    how: dict[str, Any] = {"scope": scope}
    if scope == "minutes":
        minutes = form.get("minutes", "")
        if not minutes.isdecimal() or not 1 <= int(minutes) <= MOST_MINUTES:
            raise NoAnswer(
                gettext("Give a number of minutes from 1 to %(most_minutes)s.")
                % {"most_minutes": grouped(MOST_MINUTES)}
            )
        how["minutes"] = int(minutes)
    if "pattern" in form:
        how["patterns"] = [pattern.strip() for pattern in form.getlist("pattern") if pattern.strip()]
    return how
