"""Undo from a message on, with a choice of what, and redo."""

from __future__ import annotations

import json
from typing import cast, get_args

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_POST

from sessions.changes.operations.conversation import (
    Choice,
    Preview,
    UnknownMessage,
    What,
    bring_back,
    preview,
    undo_from,
)
from sessions.changes.operations.lock import Refused
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from sessions.core.models.ledger import unpack_path
from sessions.core.principal import actor
from sessions.core.store import turns
from sessions.web.access import session_of
from sessions.web.respond import beside, fragment, toast
from sessions.web.review.display import undoing
from sessions.web.review.display.undoing import listed


async def undo(request: HttpRequest, project_id: str, session_id: str, message_id: str) -> HttpResponse:
    """GET what undoing from a message would do, POST does it: `what` is both, conversation or files; with
    `listed` only the files named by `path` are touched."""
    session = await session_of(project_id, session_id)
    try:
        if request.method == "POST":
            choice = _choice(request.POST)
            if choice.what == "files" and choice.paths == frozenset():
                return beside("undo", gettext("Choose a file, or undo the conversation."))
            operation = await undo_from(session, message_id, None, choice, actor=actor(request))
            return _carried_out(operation, message_id)
        shown = await preview(session, message_id)
    except UnknownMessage as error:
        raise Http404(str(error)) from error
    except Refused as error:
        return beside("undo", str(error))
    return await _dialog(session, shown)


@require_POST
async def redo(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Bring back what undos of the conversation took back."""
    session = await session_of(project_id, session_id)
    if not session.revert:
        return toast(
            gettext("There is nothing to redo: a new prompt made the undo final, or it was redone already.")
        )
    try:
        operation = await bring_back(session, actor=actor(request))
    except Refused as error:
        return toast(str(error))
    return toast(undoing.ended(gettext_noop("Redone"), operation.outcome if operation else []))


def _choice(form: QueryDict) -> Choice:
    asked = form.get("what", "both")
    what = cast(What, asked if asked in get_args(What) else "both")
    if "listed" not in form:
        return Choice(what)
    return Choice(what, frozenset(unpack_path(key) for key in form.getlist("path")))


async def _dialog(session: Session, shown: Preview) -> HttpResponse:
    message_id = shown.point.message_id
    prompts, text = await in_db(turns.from_prompt, session.id, message_id)
    return fragment(
        "review/undo.html",
        action=reverse("undo", args=(session.project_id, session.id, message_id)),
        prompts=prompts,
        text=text,
        files=listed(shown.files),
        problem=shown.problem,
        not_covered=shown.not_covered,
    )


def _carried_out(operation: Operation, message_id: str) -> HttpResponse:
    """Closes the dialog, with a note of what came of it; an undo of files only is redone from there, and of
    another the event `prompt:undone` tells the composer."""
    files_only = operation.kind == "undo"
    response = fragment(
        "review/undone.html",
        text=undoing.ended(gettext_noop("Undone"), operation.outcome),
        redo=reverse("invert-operation", args=(operation.project_id, operation.id)) if files_only else "",
    )
    if not files_only:
        response["HX-Trigger"] = json.dumps({"prompt:undone": {"prompt": message_id}})
    return response
