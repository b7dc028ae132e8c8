"""Go on with turns that were cut off. What is due of it is in the rows: a lost hint costs time only.

Source: docs/decisions/0020-resume.md.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from agents.agent.run import Run
from agents.config.configuration import load
from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import pursuits, resumption, schedules
from sessions.core.wire.messages import UserMessage


async def begin(run: Run, state: resumption.State) -> UserMessage | None:
    """The prompt of the turn that is to go on now, if there is one; `run.taken` are its steps so far. `state`
    is what waits to be decided or done."""
    if state == "cut":
        await _decide(run.session)
    found = await in_db(resumption.begin, run.session.id) if state else None
    if found is None:
        return None
    prompt, run.taken = found
    return prompt


async def sessions_due() -> list[str]:
    """Ids of sessions that nobody holds and that are to go on now, asked to or by themselves."""
    for session in await in_db(resumption.undecided):
        await _decide(session)
    return await in_db(resumption.sessions_due)


async def _decide(session: Session) -> None:
    """A session that works at a goal or for a schedule, or is compared, is meant to go on by itself."""
    chosen = (await asyncio.to_thread(load, Path(session.directory))).config.resume
    automatic = chosen == "auto" or await in_db(_works_by_itself, session.id)
    await in_db(resumption.decide, session.id, automatic=automatic)


def _works_by_itself(session_id: str) -> bool:
    return pursuits.due(session_id) or schedules.run_of(session_id) is not None
