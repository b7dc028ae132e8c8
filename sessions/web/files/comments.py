"""Comments on lines of a file, as the editor shows them. With those on a diff they go to the agent as one
prompt (`sessions.web.comments`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext

from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.models.ledger import unpack_path
from sessions.core.store import comments as store
from sessions.core.store.comments import Thread
from sessions.project import browsing
from sessions.web.access import session_of
from sessions.web.comments import OF_A_FILE, WORDS, add_to_text, place
from sessions.web.respond import REFUSED
from sessions.web.roots import root_of


async def comments(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Of the file `path`. GET gives `{"comments": [{"id", "start", "end", "outdated", "state", "words",
    "text"}], "seen"}`: where their lines are in the content that was `seen`. POST adds `text` about lines
    `start` to `end` of what the person has `seen`; what is refused says why in `{"words"}`."""
    session = await session_of(project_id, session_id)
    given = request.POST if request.method == "POST" else request.GET
    path = unpack_path(given.get("path", ""))
    content = await asyncio.to_thread(_content, session, path)
    seen = "" if content is None else object_id(content)
    posted = request.method == "POST"
    if posted and (problem := await add_to_text(request, session, path, content, seen, OF_A_FILE)):
        return JsonResponse({"words": problem}, status=REFUSED)
    threads = (await in_db(store.threads, session.id)).get(path, ())
    told = await asyncio.to_thread(_told, threads, content or b"")
    return JsonResponse({"comments": told, "seen": seen})


def _content(session: Session, path: str) -> bytes | None:
    """None where there is no such file, any more or yet."""
    try:
        return browsing.content(root_of(session.project, session, path).path, path)
    except browsing.Unreadable:
        return None


def _told(threads: Sequence[Thread], content: bytes) -> list[dict[str, Any]]:
    """Those on lines that are no longer there come too."""
    shown = [thread for thread in threads if thread.comment.side == "new"]
    places = [place(thread.comment, content) for thread in shown]
    return [
        {
            "id": thread.comment.id,
            "start": where.start,
            "end": where.end,
            "outdated": where.outdated,
            "state": thread.state,
            "words": gettext(WORDS[thread.state]),
            "text": thread.comment.text,
        }
        for thread, where in zip(shown, places, strict=True)
    ]
