"""`/export`: the conversation as a file, Markdown for people and JSON for programs.

What people, models and tools wrote is hostile to whoever opens the file: in the Markdown all of it stands in
code fences, so that no heading is forged, no tag acts and no image is fetched.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from sessions.db import in_db
from sessions.models import Session
from sessions.rendering.text import visible
from sessions.store import messages
from sessions.store.rows import session_wire

from .access import session_of
from .respond import fragment

Wire = dict[str, Any]
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+.!|~&-])")


@require_GET
async def choice(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """The dialog with both files."""
    return fragment("composer/export.html", session=await session_of(project_id, session_id))


@require_GET
async def markdown(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    session = await session_of(project_id, session_id)
    history = await in_db(messages.history, session.id, before=(session.revert or {}).get("messageID", ""))
    text = await asyncio.to_thread(as_markdown, session, history)
    return _file(session, "md", "text/markdown; charset=utf-8", text)


@require_GET
async def data(request: HttpRequest, project_id: str, session_id: str) -> HttpResponse:
    """`{"info", "messages": [{"info", "parts"}]}`, as the API has them, with what is undone."""
    session = await session_of(project_id, session_id)
    whole = {"info": session_wire(session), "messages": await in_db(messages.history, session.id)}
    text = await asyncio.to_thread(json.dumps, whole, ensure_ascii=False, indent=1)
    return _file(session, "json", "application/json", text)


def _file(session: Session, ending: str, kind: str, text: str) -> HttpResponse:
    name = re.sub(r"[^A-Za-z0-9]+", "-", session.title).strip("-")[:60] or session.slug
    response = HttpResponse(text.encode("utf-8", "replace"), content_type=kind)
    response["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
    response["Cache-Control"] = "no-store"
    return response


def as_markdown(session: Session, history: Sequence[Wire]) -> str:
    """The conversation of `[{"info", "parts"}]` to read: what was said, called and answered."""
    day = datetime.fromtimestamp(session.time_created / 1000, UTC).date()
    blocks = [f"# {_line(session.title)}", f"Session {session.id}, begun {day}"]
    for entry in history:
        found = [block for part in entry["parts"] for block in _part(part)]
        if found:
            blocks += [_heading(entry["info"]), *found]
    return "\n\n".join(blocks) + "\n"


def _heading(info: Wire) -> str:
    if info["role"] == "user":
        return "## You"
    return f"## Agent {_line(info.get('agent', ''))}, model {_line(info.get('modelID', ''))}"


def _part(part: Wire) -> Iterator[str]:
    if part.get("synthetic") or part.get("ignored"):
        return
    match part["type"]:
        case "text":
            yield _fenced(part.get("text", ""), "markdown")
        case "reasoning" if part.get("text"):
            yield "### Thinking"
            yield _fenced(part["text"], "markdown")
        case "file":
            yield f"Attached: {_line(part.get('filename') or 'a file')}"
        case "tool":
            yield from _call(part)
        case "compaction":
            yield "What came before was compacted here."


def _call(part: Wire) -> Iterator[str]:
    state = part["state"]
    yield f"### Tool {_line(part['tool'])}: {_line(state['status'])}"
    yield _fenced(json.dumps(state.get("input") or {}, ensure_ascii=False, indent=2), "json")
    if outcome := state.get("output") or state.get("error"):
        yield _fenced(str(outcome), "text")


def _line(text: str) -> str:
    """Text as one line that means nothing to Markdown."""
    return _SPECIAL.sub(r"\\\1", visible(" ".join(str(text).split())))


def _fenced(text: str, language: str) -> str:
    """In a fence that is longer than any inside it."""
    text = visible(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"
