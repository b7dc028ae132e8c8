"""What a person does to several sessions of the list at once: stop, archive, pin, delete, export, bring
back."""

from __future__ import annotations

import asyncio
import io
import json
import zipfile
from collections.abc import Callable, Sequence

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation.trans_null import gettext_noop
from django.views.decorators.http import require_GET, require_POST

from sessions.changes import actions
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import sessions as session_store
from sessions.core.store import staging
from sessions.transfer.writing.document import collect
from sessions.transfer.writing.forms import FORMS, written
from sessions.web.access import find_sessions, project_of
from sessions.web.respond import fragment, refused, toast

from .export import file_name

NOTHING = gettext_noop("There was nothing to do: the sessions are so already, or they are gone.")


@require_POST
async def archive(request: HttpRequest, project_id: str) -> HttpResponse:
    """Out of the list, or with `on` 0 back into it."""
    on = request.POST.get("on", "1") == "1"
    rows = await in_db(_archive, project_id, request.POST.getlist("session"), on)
    what = _archived if on else _brought_back
    return _told(request, rows, what, reverse("archive-sessions", args=(project_id,)), on="0" if on else "1")


@require_POST
async def pin(request: HttpRequest, project_id: str) -> HttpResponse:
    """With `on` 1 above the others, with 0 no longer; without, the latter where all of them are pinned."""
    ids = request.POST.getlist("session")
    chosen = await in_db(find_sessions, project_id, ids)
    on = request.POST.get("on", "0" if all(row.time_pinned for row in chosen) else "1") == "1"
    rows = await in_db(_pin, project_id, ids, on)
    what = _pinned if on else _unpinned
    return _told(request, rows, what, reverse("pin-sessions", args=(project_id,)), on="0" if on else "1")


@require_POST
async def stop(request: HttpRequest, project_id: str) -> HttpResponse:
    """The turns that run in them, and below them."""
    rows = await in_db(find_sessions, project_id, request.POST.getlist("session"))
    for row in rows:
        await actions.abort(row.id)
    return HttpResponse()


@require_POST
async def delete(request: HttpRequest, project_id: str) -> HttpResponse:
    rows = await in_db(find_sessions, project_id, request.POST.getlist("session"))
    staged = 0
    for row in rows:
        staged += len(await in_db(staging.files, row))
        await actions.delete(row.id)
    kept = _deleted_staged if staged else _deleted
    return _told(request, rows, kept, reverse("restore-sessions", args=(project_id,)))


@require_POST
async def restore(request: HttpRequest, project_id: str) -> HttpResponse:
    """Back from deletion."""
    ids = request.POST.getlist("session")
    for row in await in_db(find_sessions, project_id, ids, deleted=True):
        await in_db(session_store.restore, row.id)
    return HttpResponse()


@require_GET
async def export(request: HttpRequest, project_id: str) -> HttpResponse:
    """The dialog with all forms."""
    project = await project_of(project_id)
    rows = await in_db(find_sessions, project_id, request.GET.getlist("session"))
    return fragment("transfer/export_several.html", project=project, sessions=rows)


@require_GET
async def exported(request: HttpRequest, project_id: str) -> HttpResponse:
    """A file of each, in the form of that ending (`form`), packed; with `?redact` without secrets."""
    ending = request.GET.get("form", "md")
    form = next((name for name, form in FORMS.items() if form.ending == ending), "")
    rows = await in_db(find_sessions, project_id, request.GET.getlist("session"))
    if not rows or not form:
        return refused(gettext(NOTHING))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as files:
        for row in rows:
            document = await in_db(collect, row)
            content = await asyncio.to_thread(written, document, form, redact="redact" in request.GET)
            await asyncio.to_thread(files.writestr, f"{file_name(row)}-{row.slug}.{ending}", content)
    response = HttpResponse(packed.getvalue(), content_type="application/zip")
    response["Content-Disposition"] = 'attachment; filename="sessions.zip"'
    response["Cache-Control"] = "no-store"
    return response


def _archive(project_id: str, ids: Sequence[str], on: bool) -> list[Session]:
    """In one step; gives those that were not so before. So does `_pin`."""
    rows = [row for row in find_sessions(project_id, ids) if bool(row.time_archived) != on]
    with transaction.atomic():
        return [row for row in rows if session_store.archive(row.id, on)]


def _pin(project_id: str, ids: Sequence[str], on: bool) -> list[Session]:
    rows = [row for row in find_sessions(project_id, ids) if bool(row.time_pinned) != on]
    with transaction.atomic():
        return [row for row in rows if session_store.pin(row.id, on)]


def _archived(count: int) -> str:
    return ngettext("%(count)s session was archived.", "%(count)s sessions were archived.", count)


def _brought_back(count: int) -> str:
    return ngettext("%(count)s session was brought back.", "%(count)s sessions were brought back.", count)


def _pinned(count: int) -> str:
    return ngettext("%(count)s session was pinned.", "%(count)s sessions were pinned.", count)


def _unpinned(count: int) -> str:
    return ngettext("%(count)s session was unpinned.", "%(count)s sessions were unpinned.", count)


def _deleted(count: int) -> str:
    return ngettext("%(count)s session was deleted.", "%(count)s sessions were deleted.", count)


def _deleted_staged(count: int) -> str:
    return ngettext(
        "%(count)s session was deleted, and what is staged in it is kept with it.",
        "%(count)s sessions were deleted, and what is staged in them is kept with them.",
        count,
    )


def _told(
    request: HttpRequest, rows: Sequence[Session], what: Callable[[int], str], undo: str, **values: str
) -> HttpResponse:
    """One toast for all, whose Undo posts the sessions and `values` to `undo`; that itself is answered by
    nothing."""
    if "undo" in request.POST:
        return HttpResponse()
    if not rows:
        return toast(gettext(NOTHING))
    ids = [row.id for row in rows]
    gone = "" if what in (_pinned, _unpinned) else " ".join(ids)
    posted = json.dumps({"session": ids, "undo": "1", **values})
    return toast(what(len(ids)) % {"count": len(ids)}, undo=undo, values=posted, gone=gone)
