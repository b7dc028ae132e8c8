"""What a turn and a session changed, kept with the message and the session."""

from __future__ import annotations

from sessions.changes.review.filediffs import refresh
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import turns


async def summarise(session: Session, prompt_id: str = "") -> None:
    """Refresh the diffs of the last prompt and the counts of the session, however its turn ended."""
    prompt_id = prompt_id or await in_db(turns.last_prompt, session.id)
    if prompt_id:
        await in_db(refresh, session, prompt_id)
