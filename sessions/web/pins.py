"""What a person pins for the model of a session: a message, a file, a note; listed and unpinned."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from sessions.core.above import agents
from sessions.core.db import in_db
from sessions.core.models import Pin, Session
from sessions.core.models.ledger import shown, unpack_path
from sessions.core.store import messages, pins
from sessions.project import browsing, texts
from sessions.rendering.html import html
from sessions.rendering.parts import written
from sessions.web.access import session_of
from sessions.web.respond import beside, done, fragment, noted, toast
from sessions.web.roots import root_of


def pin_tray(session: Session, *, oob: bool = True) -> str:
    """Empty without any."""
    rows = pins.overview(session.id)
    total = sum(row.tokens for row in rows)
    large = pins.is_large(total, int(session.window.get("window", 0)))
    return html("pins/tray.html", session=session, pins=rows, total=total, large=large, oob=oob)


@require_GET
async def note(_: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """The dialog that a note is written in."""
    return fragment("pins/note.html", session=await session_of(project_id, session_id))


@require_POST
async def add(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Pin the message `message`, the file at `path`, or the note `text`."""
    session = await session_of(project_id, session_id)
    message_id, packed = request.POST.get("message", ""), request.POST.get("path", "")
    text = request.POST.get("text", "").replace("\r\n", "\n").strip()  # as forms encode line breaks
    try:
        if message_id:
            await _message(session, message_id)
        elif packed:
            path = unpack_path(packed)
            content = await asyncio.to_thread(_content, session, path)
            await _add(session, Pin.Kind.FILE, content, path=path, title=shown(path))
            return toast(
                gettext("Pinned: the agent has %(path)s in full, also after a compaction.")
                % {"path": shown(path)}
            )
        else:
            await _add(session, Pin.Kind.NOTE, text)
            return HttpResponse()
    except (pins.Refused, browsing.Unreadable) as problem:
        return toast(str(problem)) if message_id or packed else beside("pin-note", str(problem))
    return done()


@require_POST
async def remove(_: HttpRequest, project_id: str, session_id: str, pin_id: str) -> HttpResponse:
    """The agent no longer has it from its next step on, but for what the conversation itself has of it. What
    is nowhere else is brought back by a toast."""
    row = await in_db(pins.remove, await session_of(project_id, session_id), pin_id)
    if row is None or row.kind != Pin.Kind.NOTE or row.note_id:
        return done()
    undo = reverse("add-pin", args=(project_id, session_id))
    return noted(toast(gettext("Unpinned the note."), undo=undo, values=json.dumps({"text": row.text})))


async def _message(session: Session, message_id: str) -> None:
    """Raises Refused."""
    entry = await in_db(messages.message, session.id, message_id)
    if entry is None:
        raise Http404(gettext("This message is gone."))
    kind = Pin.Kind.PROMPT if entry["info"]["role"] == "user" else Pin.Kind.ANSWER
    await _add(session, kind, written(entry["parts"]), message_id=message_id)


async def _add(session: Session, kind: Pin.Kind, text: str, **more: Any) -> None:
    """Raises Refused."""
    window = int(session.window.get("window", 0))
    if session.model_id:
        window = agents().context_window(session.provider_id, session.model_id) or window
    await in_db(pins.add, session, kind, text, window, **more)


def _content(session: Session, path: str) -> str:
    """Raises Refused, Unreadable. Blocks."""
    root = root_of(session.project, session, path)
    text = texts.read(browsing.content(root.path, path))
    if text is None:
        raise pins.Refused(
            gettext("%(path)s is no text, and only text can be pinned.") % {"path": shown(path)}
        )
    return text.text
