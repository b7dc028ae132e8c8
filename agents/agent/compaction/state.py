"""What the program itself knows of a session's work: told beside a summary, which is a model's memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from sessions.changes.review.filediffs import NetChange, changed_in
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.models.ledger import shown
from sessions.core.plans import plan_text, shown_path
from sessions.core.store import ledger, todos
from sessions.core.wire.session import TodoInfo

MOST_FILES = 100
_DID = {"added": "created", "deleted": "removed", "modified": "changed"}


async def state(session: Session) -> str:
    """The list of things to do, the files that the session changed, where its plan is; empty without any."""
    listed, changed = await in_db(_rows, session)
    plan = await asyncio.to_thread(plan_text, session)
    pieces = [*_todos(listed), *_files(changed)]
    if plan:
        pieces.append(f"The plan of this session is in {shown_path(session)}.")
    return "\n".join(["So it stands, as the program has it:", *pieces]) if pieces else ""


def _rows(session: Session) -> tuple[list[TodoInfo], list[NetChange]]:
    return todos.listing(session.id), changed_in(session, ledger.by_tools(session.id)).files


def _todos(listed: list[TodoInfo]) -> Iterator[str]:
    if listed:
        yield "Todo list:"
        yield from (f"- [{item.status.replace('_', ' ')}] {item.content}" for item in listed)


def _files(changed: list[NetChange]) -> Iterator[str]:
    if changed:
        yield "Files that this session has changed:"
        yield from (f"- {shown(one.path)} ({_DID[one.status]})" for one in changed[:MOST_FILES])
    if len(changed) > MOST_FILES:
        yield f"- and {len(changed) - MOST_FILES} more"
