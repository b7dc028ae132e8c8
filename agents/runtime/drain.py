"""The loop: promote a prompt, take steps until none is due, then the next prompt (design law 4).

Source: seed 002 (Session Drain, Prompt Promotion), seed 004 §3.2.
"""

from __future__ import annotations

import asyncio
import logging

from agents.catalog import default_ref
from agents.configuration import load
from agents.runtime import summaries, titles
from agents.runtime.run import Run
from agents.runtime.step import step
from sessions.db import in_db
from sessions.store import inbox, reverts
from sessions.store import sessions as session_store
from sessions.wire.messages import UserMessage
from sessions.wire.session import Status

DEMO = "demo"
"""A session never settles on the demo: a real model takes over as soon as there is one."""

logger = logging.getLogger(__name__)


async def drain(run: Run) -> None:
    """Work until the session has nothing to do; the session's lease is ours."""
    while (prompt := await promote(run)) is not None:
        run.error, run.rejected = None, False
        await in_db(session_store.set_status, run.session.id, Status(type="busy"))
        run.spawn(asyncio.to_thread(run.tracker.warm))
        run.spawn(titles.give_title(run, prompt))
        steps = 0
        while await step(run, prompt, steps):
            steps += 1
        await summaries.summarise(run.session)
        await in_db(session_store.set_status, run.session.id, Status(type="idle"), error=run.error)


async def promote(run: Run) -> UserMessage | None:
    """The next Admitted Prompt as a user message; it makes a pending undo final."""
    if not await in_db(inbox.waiting, run.session.id):
        return None
    await in_db(reverts.make_final, run.session.id)
    session = await in_db(session_store.get, run.session.id)
    provider_id, _, model_id = (await default_ref(run.directory, session)).partition("/")
    prompt = await in_db(
        inbox.promote,
        run.session.id,
        agent=(session.agent if session else "") or load(run.directory).config.default_agent or "build",
        provider_id=provider_id,
        model_id=model_id,
    )
    if prompt is not None and prompt.model.provider_id != DEMO:
        await in_db(session_store.remember, run.session.id, prompt.agent, prompt.model)
    return prompt
