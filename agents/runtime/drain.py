"""The loop: promote a prompt, take steps until none is due, then the next prompt (design law 4).

Source: seed 002 (Session Drain, Prompt Promotion), seed 004 §3.2.
"""

from __future__ import annotations

import asyncio

from agents.runtime import boundary, summaries, titles
from agents.runtime.run import Run
from agents.runtime.steps.step import Outcome, step
from sessions.db import in_db
from sessions.store import sessions as session_store
from sessions.wire.messages import UserMessage
from sessions.wire.session import Status


async def drain(run: Run) -> None:
    """Work until the session has nothing to do; the session's lease is ours."""
    while (prompt := await boundary.begin(run)) is not None:
        run.error, run.rejected = None, False
        await in_db(session_store.set_status, run.session.id, Status(type="busy"))
        run.spawn(asyncio.to_thread(run.tracker.warm))
        run.spawn(titles.give_title(run, prompt))
        await _answer(run, prompt)
        await summaries.summarise(run.session)
        await in_db(session_store.set_status, run.session.id, Status(type="idle"), error=run.error)


async def _answer(run: Run, prompt: UserMessage) -> None:
    """Take steps until no continuation is due. A prompt that steers resets the allowance of steps."""
    taken = 0
    while await step(run, prompt, taken) is Outcome.CONTINUE:
        taken += 1
        if steered := await boundary.steer(run):
            prompt, taken = steered, 0
