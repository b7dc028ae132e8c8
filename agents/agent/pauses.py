"""Pauses of turns before something is tried again, which a person can end."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.store import sessions as session_store
from sessions.core.wire.session import Status

_pauses: dict[str, asyncio.Event] = {}


async def pause(session_id: str, attempt: int, message: str, seconds: float) -> None:
    """Say what went wrong and when the next attempt is, and wait for that, or until `hasten`."""
    event = _pauses[session_id] = asyncio.Event()  # before anybody is told, and may want its end
    due = now() + int(seconds * 1000)
    status = Status(type="retry", attempt=attempt, message=message, next=due)
    try:
        await in_db(session_store.set_status, session_id, status)
        # `wait_for` would lose a stop that comes with the word to go on.
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await event.wait()
    finally:
        del _pauses[session_id]


def hasten(session_id: str) -> None:
    """End the pause of a session, if there is one here."""
    if session_id in _pauses:
        _pauses[session_id].set()
