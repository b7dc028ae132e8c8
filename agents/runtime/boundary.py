"""The Safe Provider-Turn Boundary, where Admitted Prompts become user messages (seed 002)."""

from __future__ import annotations

import asyncio
import logging

from agents.context.epochs import ContextBlocked, prepare
from agents.definitions import UnknownAgent
from agents.llm.providers import UnknownModel
from agents.runtime.run import Run
from agents.runtime.steps.sample import chosen_of, next_choice, sample
from sessions.db import in_db
from sessions.ids import now
from sessions.models import AdmittedPrompt
from sessions.store import inbox, reverts
from sessions.store import sessions as session_store
from sessions.wire.messages import UserMessage
from sessions.wire.session import Status

DEMO = "demo"
"""A session never settles on the demo: a real model takes over as soon as there is one."""

BLOCKED_SECONDS = 2.0

logger = logging.getLogger(__name__)


async def begin(run: Run) -> UserMessage | None:
    """While nothing is going on: promote every steering prompt that waits, or else one queued prompt. The
    last one promoted, or None when none waits."""
    waiting = await in_db(inbox.next_when_idle, run.session.id)
    if not waiting:
        return None
    await in_db(reverts.make_final, run.session.id)
    await _prepared(run, waiting[0])
    return await _promote(run, await in_db(inbox.next_when_idle, run.session.id))


async def steer(run: Run) -> UserMessage | None:
    """Between two steps: promote the steering prompts that wait; the last of them, if any."""
    return await _promote(run, await in_db(inbox.steering, run.session.id))


async def _promote(run: Run, waiting: list[AdmittedPrompt]) -> UserMessage | None:
    promoted = None
    for row in waiting:
        choice = await next_choice(run, row)
        provider_id, _, model_id = choice.model.partition("/")
        message = await in_db(
            inbox.promote,
            row.id,
            agent=choice.agent,
            provider_id=provider_id,
            model_id=model_id,
            variant=choice.variant,
        )
        promoted = message or promoted
    if promoted is not None:
        await _remember(run, promoted)
    return promoted


async def _remember(run: Run, prompt: UserMessage) -> None:
    if prompt.model.provider_id != DEMO:
        await in_db(session_store.remember, run.session.id, prompt.agent, prompt.model)
    session = await in_db(session_store.get, run.session.id)
    run.chosen = chosen_of(session) if session else ()


async def _prepared(run: Run, waiting: AdmittedPrompt) -> None:
    """A complete baseline comes before the first promotion, so that a prompt waits rather than being
    answered without its context. An agent or model that does not exist is told by the step."""
    attempt = 0
    while True:
        try:
            await prepare(await sample(run, await next_choice(run, waiting)))
            return
        except (UnknownAgent, UnknownModel):
            return
        except ContextBlocked as problem:
            attempt += 1
            status = Status(
                type="retry", attempt=attempt, message=str(problem), next=now() + int(BLOCKED_SECONDS * 1000)
            )
            await in_db(session_store.set_status, run.session.id, status)
            await asyncio.sleep(BLOCKED_SECONDS)
