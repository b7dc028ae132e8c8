"""What a person does to a prompt that waits: read it whole, edit, move, switch, withdraw.

Each can come too late, when the prompt was promoted a moment before; that is told, and nothing is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from sessions.changes import actions
from sessions.core.db import in_db
from sessions.core.principal import acting
from sessions.core.store import inbox, messages, prompts, shells
from sessions.web.access import project_of, session_of
from sessions.web.respond import done, refused, toast

from .prompts import BadPrompt, attached_of, delivery_of, written_of

LATE = gettext_noop("This prompt no longer waits: it is already being worked on, or it was withdrawn.")


@require_GET
async def whole(request: HttpRequest, project_id: str, session_id: str, prompt_id: str) -> HttpResponse:
    """A prompt that waits, or was stopped, as it was written (see `_written`), for the composer to edit."""
    session = await session_of(project_id, session_id)
    parts = await in_db(_parts, session.id, prompt_id)
    if parts is None:
        raise Http404(gettext(LATE))
    return _written(parts)


@require_GET
async def said(request: HttpRequest, project_id: str, session_id: str, message_id: str) -> HttpResponse:
    """A prompt of the conversation, undone or not, as it was written (see `_written`)."""
    session = await session_of(project_id, session_id)
    found = await in_db(messages.message, session.id, message_id)
    if found is None or found["info"]["role"] != "user":
        raise Http404(gettext("This prompt is not part of the session."))
    return _written(inbox.unplaced(found["parts"]))


@require_GET
async def earlier(request: HttpRequest, project_id: str) -> HttpResponse:
    """The prompt that came before the one of the id `before`, with its own `id` (see `_written`): of the
    `session`, then of the project's other ones, the newest first. Nothing (204) when there is none."""
    project = await project_of(project_id)
    given = request.GET
    found = await in_db(prompts.before, project.id, given.get("session", ""), given.get("before", ""))
    return _written(inbox.unplaced(found["parts"]), id=found["info"]["id"]) if found else done()


def _written(parts: Sequence[dict[str, Any]], **more: str) -> HttpResponse:
    """`{"text", "agents", "parts", "files", "shell"}`: each mentioned part with its words, each attached file
    with its content; `shell`: the text is a command line."""
    written = [part for part in parts if inbox.is_written(part)]
    texts = [part["text"] for part in written if part["type"] == "text"]
    agents = [part["name"] for part in written if part["type"] == "agent"]
    mentioned = [(inbox.mentioned(part), part) for part in written if part["type"] == "file"]
    command = next(filter(None, map(shells.command_of, parts)), "")
    return JsonResponse(
        {
            "text": command or "\n".join(texts),
            "agents": agents,
            "parts": mentioned,
            "files": attached_of(parts),
            "shell": bool(command),
            **more,
        }
    )


def _parts(session_id: str, prompt_id: str) -> list[dict[str, Any]] | None:
    """Of a prompt that waits, or was stopped."""
    rows = inbox.stopped(session_id, prompt_id)
    if rows:
        return list(rows[0].stopped or [])
    row = inbox.find(session_id, prompt_id)
    return list(row.parts) if row else None


@require_POST
async def again(request: HttpRequest, project_id: str, session_id: str, prompt_id: str) -> HttpResponse:
    """Send a prompt that was stopped, whole, as a new one."""
    session = await session_of(project_id, session_id)
    parts = await in_db(_parts, session.id, prompt_id)
    if parts is None or not await in_db(inbox.let_go, session.id, prompt_id):
        return toast(gettext(LATE))
    await actions.prompt(session, inbox.unplaced(parts))
    return done()


@require_POST
async def edit(request: HttpRequest, project_id: str, session_id: str, prompt_id: str) -> HttpResponse:
    """The form's text in place of the prompt's. Too late, the event `late` tells the composer to keep it."""
    session = await session_of(project_id, session_id)
    try:
        in_time = await in_db(inbox.edit, session.id, prompt_id, written_of(request.POST), acting.get())
    except (BadPrompt, inbox.PromptRefused) as problem:
        return refused(str(problem))
    if in_time:
        return done(edited=prompt_id)
    answer = refused(
        gettext("%(late)s Your text is still here: Enter sends it as a new prompt.") % {"late": gettext(LATE)}
    )
    answer["HX-Trigger"] = "late"
    return answer


@require_POST
async def move(request: HttpRequest, project_id: str, session_id: str, prompt_id: str) -> HttpResponse:
    """`by` is -1 (earlier) or 1 (later)."""
    by = {"-1": -1, "1": 1}.get(request.POST.get("by", ""))
    if by is None:
        return toast(gettext("A prompt moves one place up or down."))
    return await _change(project_id, session_id, inbox.move, prompt_id, by)


@require_POST
async def switch(request: HttpRequest, project_id: str, session_id: str, prompt_id: str) -> HttpResponse:
    """`delivery` is `steer` or `queue`."""
    try:
        delivery = delivery_of(request.POST.get("delivery", ""))
    except BadPrompt as problem:
        return toast(str(problem))
    return await _change(project_id, session_id, inbox.switch, prompt_id, delivery)


@require_POST
async def withdraw(request: HttpRequest, project_id: str, session_id: str, prompt_id: str) -> HttpResponse:
    return await _change(project_id, session_id, _discard, prompt_id)


def _discard(session_id: str, prompt_id: str) -> bool:
    return inbox.withdraw(session_id, prompt_id) or inbox.let_go(session_id, prompt_id)


async def _change(
    project_id: str, session_id: str, change: Callable[..., bool], prompt_id: str, *how: Any
) -> HttpResponse:
    session = await session_of(project_id, session_id)
    return done() if await in_db(change, session.id, prompt_id, *how) else toast(gettext(LATE))
