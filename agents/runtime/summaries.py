"""What a turn and a session changed, kept with the message and the session (seed 004 §17)."""

from __future__ import annotations

import asyncio

from sessions.db import in_db
from sessions.models import Session
from sessions.store import summary, turns
from sessions.tracking import tracker


async def summarise(session: Session) -> None:
    """Refresh the diffs of the last prompt and the counts of the session, however its turn ended."""
    prompt_id = await in_db(turns.last_prompt, session.id)
    if prompt_id:
        objects = (await asyncio.to_thread(tracker, session.project)).objects
        await in_db(summary.refresh, session.id, prompt_id, objects)
