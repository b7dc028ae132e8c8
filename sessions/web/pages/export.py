"""`/export`: the conversation as a file, HTML and Markdown for people and JSON for programs."""

from __future__ import annotations

import asyncio
import re

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.transfer.writing.document import collect
from sessions.transfer.writing.forms import FORMS, written
from sessions.web.access import session_of
from sessions.web.respond import fragment


@require_GET
async def choice(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """The dialog with all forms."""
    session = await session_of(project_id, session_id)
    runs = session.status.get("type", "idle") != "idle"
    return fragment("transfer/export.html", session=session, runs=runs)


@require_GET
async def markdown(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    return await _file(request, project_id, session_id, "markdown")


@require_GET
async def data(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`{"info", "messages": [{"info", "parts"}]}`, as OpenCode's `import` takes it, with what is undone."""
    return await _file(request, project_id, session_id, "json")


@require_GET
async def transcript(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    return await _file(request, project_id, session_id, "html")


async def _file(request: HttpRequest, project_id: str, session_id: str, form: str) -> HttpResponse:
    """With `?redact` without secrets."""
    session = await session_of(project_id, session_id)
    document = await in_db(collect, session)
    content = await asyncio.to_thread(written, document, form, redact="redact" in request.GET)
    response = HttpResponse(content, content_type=FORMS[form].media)
    response["Content-Disposition"] = f'attachment; filename="{file_name(session)}.{FORMS[form].ending}"'
    response["Cache-Control"] = "no-store"
    return response


def file_name(session: Session) -> str:
    """What the file of a session is called, without its ending."""
    return re.sub(r"[^A-Za-z0-9]+", "-", session.title).strip("-")[:60] or session.slug
