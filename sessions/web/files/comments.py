"""Comments on lines of a file, as the editor shows them. With those on a diff they go to the agent as one
prompt (`sessions.web.comments`)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse

from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.models.ledger import unpack_path
from sessions.core.principal import actor
from sessions.core.store import comments as store
from sessions.core.store.comments import Thread
from sessions.project import browsing
from sessions.web.access import session_of
from sessions.web.comments import LONGEST, MAX_TEXT, OF_A_FILE, WORDS, length, line_number, lines_of, place
from sessions.web.respond import REFUSED


async def comments(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """Of the file `path`. GET gives `{"comments": [{"id", "start", "end", "outdated", "state", "words",
    "text"}], "seen"}`: where their lines are in the content that was `seen`. POST adds `text` about lines
    `start` to `end` of what the person has `seen`; what is refused says why in `{"words"}`."""
    session = await session_of(project_id, session_id)
    given = request.POST if request.method == "POST" else request.GET
    path = unpack_path(given.get("path", ""))
    content = await asyncio.to_thread(_content, Path(session.project.worktree), path)
    if request.method == "POST" and (problem := await _add(request, session, path, content)):
        return JsonResponse({"words": problem}, status=REFUSED)
    threads = (await in_db(store.threads, session.id)).get(path, ())
    told = await asyncio.to_thread(_told, threads, content or b"")
    return JsonResponse({"comments": told, "seen": "" if content is None else object_id(content)})


def _content(worktree: Path, path: str) -> bytes | None:
    """None where there is no such file, any more or yet."""
    try:
        return browsing.content(worktree, path)
    except browsing.Unreadable:
        return None


async def _add(request: HttpRequest, session: Session, path: str, content: bytes | None) -> str:
    """Why it was refused."""
    start, end, text = (
        line_number(request.POST, "start"),
        line_number(request.POST, "end"),
        request.POST.get("text", ""),
    )
    if not text.strip() or len(text) > MAX_TEXT:
        return length(text.strip())
    code = lines_of(content, start, end)
    if content is None or request.POST.get("seen") != object_id(content) or not code:
        return "The file has been changed meanwhile; your text is still here."
    await in_db(
        store.add,
        session,
        path=path,
        side="new",
        start=start,
        end=min(end, start + LONGEST - 1),
        code=code,
        text=text.strip(),
        scope=OF_A_FILE,
        actor=actor(request),
    )
    return ""


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
            "words": WORDS[thread.state],
            "text": thread.comment.text,
        }
        for thread, where in zip(shown, places, strict=True)
    ]
