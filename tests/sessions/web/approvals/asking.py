"""Requests of the agent, as its tools make them."""

from __future__ import annotations

from typing import Any

from sessions.core.db import in_db
from sessions.core.models import PermissionRequest, Session
from sessions.core.store import permissions
from sessions.web.approvals.cards import permission_list
from tests.sessions.changes.review.world import fresh


async def ask(
    session: Session,
    permission: str = "bash",
    always: tuple[str, ...] = ("git log *",),
    patterns: tuple[str, ...] = ("git log -1",),
    **metadata: Any,
) -> PermissionRequest:
    return await in_db(
        permissions.ask,
        session,
        message_id="",
        call_id="call",
        agent="build",
        permission=permission,
        patterns=patterns,
        always=always,
        metadata=metadata,
        arguments_hash="seen",
    )


async def ask_edit(session: Session, before: str, after: str, path: str = "a.txt") -> PermissionRequest:
    """A request to change one file."""
    filediff = {"file": path, "before": before, "after": after}
    file = {"filepath": f"{session.directory}/{path}", "diff": "", "filediff": filediff}
    return await ask(session, "edit", ("*",), (path,), **file)


async def shown(session: Session) -> str:
    """The cards on the session's page."""
    row = await fresh(session)
    return await in_db(permission_list, row)


async def again(row: PermissionRequest) -> PermissionRequest:
    """The request as its row is now."""
    return await in_db(PermissionRequest.objects.get, id=row.id)
