"""What a person or a client can do to a session; pages and API call the same functions.

Each writes through the store on the ORM's thread and, after commit, wakes the agents by message.
"""

from __future__ import annotations

from typing import Any

from sessions.db import in_db
from sessions.models import AdmittedPrompt, PermissionRequest, Session
from sessions.store import inbox, permissions
from sessions.store import sessions as session_store
from sessions.wake import answered, interrupt, wake


async def prompt(session: Session, parts: list[dict[str, Any]], **choice: Any) -> AdmittedPrompt:
    """Admit a prompt (see `inbox.admit` for the choices) and wake the session.

    Raises PromptRefused when it has no content.
    """
    row = await in_db(inbox.admit, session, parts, **choice)
    await wake(session.id)
    return row


async def abort(session_id: str) -> None:
    """Stop the running turn at once; prompts that wait stay admitted."""
    await interrupt(session_id)


async def reply(request_id: str, answer: str, words: str = "") -> PermissionRequest | None:
    """Answer a permission request: `once`, `always` or `reject`; None when it can no longer be answered."""
    row = await in_db(permissions.reply, request_id, answer, words)
    if row is not None:
        await answered(row.session_id, row.id)
    return row


async def delete(session_id: str) -> Session | None:
    """Hide a session (undone by `store.sessions.restore`) and stop its turn."""
    row = await in_db(session_store.delete, session_id)
    if row is not None:
        await interrupt(session_id)
    return row
