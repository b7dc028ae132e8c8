"""What a turn and a session changed, kept with the message and the session (seed 004 §17)."""

from __future__ import annotations

from agents.runtime.run import Run
from sessions.db import in_db
from sessions.store import summary


async def summarise(run: Run, prompt_id: str) -> None:
    """Refresh the diffs of the user message and the counts of the session from the ledger."""
    await in_db(summary.refresh, run.session.id, prompt_id, run.tracker.objects)
