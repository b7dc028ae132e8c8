"""The log's page, and the dialog that takes one of its entries back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_http_methods

from sessions.changes.git import removal
from sessions.changes.history import log as history
from sessions.changes.history.entries import CallEntry
from sessions.changes.history.log import (
    Asked,
    Context,
    Entry,
    Found,
    call_context,
    call_entry,
    operation_context,
    operation_entry,
)
from sessions.changes.operations import inverse
from sessions.changes.operations.inverse import Inverse
from sessions.changes.operations.lock import Refused
from sessions.changes.roots import Roots
from sessions.changes.tracking import tracker
from sessions.core.db import in_db
from sessions.core.models import Operation, Project
from sessions.core.models.ledger import unpack_path
from sessions.core.principal import actor
from sessions.core.store import operations as store
from sessions.core.store import sessions as session_store
from sessions.web.access import project_of
from sessions.web.respond import beside, fragment, page
from sessions.web.review.display import undoing
from sessions.web.review.display.undoing import listed

_BOTH = require_http_methods(["GET", "POST"])


@require_GET
async def log(request: HttpRequest, project_id: str) -> HttpResponse:
    """`?session=&file=&kind=&before=`; asked by htmx, only the entries."""
    project = await project_of(project_id)
    asked = Asked.of(request.GET.dict())
    found, contexts = await in_db(_rows, project, asked, actor(request))
    roots = Roots(await asyncio.to_thread(tracker, project))
    entries = await asyncio.to_thread(_entries, found, contexts, roots)
    shown: dict[str, Any] = {"project": project, "asked": asked, "entries": entries, "before": found.before}
    if request.headers.get("HX-Request"):
        return fragment("operations/entries.html", **shown)
    sessions = await in_db(lambda: session_store.listing(project, roots=True, archived=True, limit=200))
    return await page(request, "operations/log.html", sessions=sessions, kinds=history.KINDS, **shown)


@_BOTH
async def invert_call(request: HttpRequest, project_id: str, session_id: str, part_id: str) -> HttpResponse:
    """GET what taking a call back would do, POST does it for the files named by `path`."""
    call = await in_db(history.call, session_id, part_id)
    if call is None or call.newest.project_id != project_id or call.newest.session.time_deleted:
        raise Http404(gettext("This is not known here."))
    if request.method == "GET":
        return await _dialog(request, gettext("Undo this change"), inverse.preview_call(call))
    paths = {unpack_path(key) for key in request.POST.getlist("path")}
    chosen = paths if "listed" in request.POST else None
    return await _carried_out(request, "Undone", inverse.invert_call(call, chosen, actor(request)))


@_BOTH
async def invert_operation(request: HttpRequest, project_id: str, operation_id: str) -> HttpResponse:
    """GET what taking an operation back would do, POST does it."""
    operation = await in_db(store.get, project_id, operation_id)
    if operation is None or operation.session.time_deleted:
        raise Http404(gettext("This is not known here."))
    engine = removal if removal.is_one(operation) else inverse
    redoes = operation.kind in ("undo", "revert", "drop")
    if request.method == "GET":
        title = (
            gettext("Redo")
            if redoes
            else gettext("Undo again")
            if operation.kind in ("redo", "unrevert")
            else gettext("Undo")
        )
        return await _dialog(request, title, engine.preview_operation(operation))
    done = gettext_noop("Redone") if redoes else gettext_noop("Undone")
    return await _carried_out(request, done, engine.invert_operation(operation, actor(request)))


async def _dialog(request: HttpRequest, title: str, inverse: Awaitable[Inverse]) -> HttpResponse:
    found = await inverse
    files = listed(found.files, free=found.free, again=found.again)
    return fragment(
        "operations/invert.html", action=request.path, title=title, words=found.words, files=files
    )


async def _carried_out(request: HttpRequest, done: str, work: Awaitable[Operation]) -> HttpResponse:
    """A note of what came of it, and no dialog; a refusal is shown in the dialog if there is one."""
    try:
        operation = await work
    except Refused as error:
        if "dialog" in request.POST:
            return beside("undo", str(error))
        return fragment("review/undone.html", text=str(error), redo="")
    return fragment("review/undone.html", text=undoing.ended(done, operation.outcome), redo="")


def _rows(project: Project, asked: Asked, me: str) -> tuple[Found, list[Context]]:
    found = history.page(project, asked)
    return found, [
        call_context(entry) if isinstance(entry, CallEntry) else operation_context(entry, me)
        for entry in found.entries
    ]


def _entries(found: Found, contexts: list[Context], roots: Roots) -> list[Entry]:
    return [
        call_entry(entry, context, roots) if isinstance(entry, CallEntry) else operation_entry(entry, context)
        for entry, context in zip(found.entries, contexts, strict=True)
    ]
