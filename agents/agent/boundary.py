"""The Safe Provider-Turn Boundary, where Admitted Prompts become user messages."""

from __future__ import annotations

from functools import reduce

from agents.agent import resumption
from agents.agent.attachments import readers
from agents.agent.attachments.readers import Filling, Parts
from agents.agent.commands.rows import is_command
from agents.agent.context.epochs import ContextBlocked, prepare
from agents.agent.mentions import completed
from agents.agent.pauses import pause
from agents.agent.run import Run
from agents.agent.steps.sample import chosen_of, next_choice, sample
from agents.llm.providers import UnknownModel
from agents.plugins.hooks import message_parts
from agents.toolkit.definitions import UnknownAgent
from sessions.core.db import in_db
from sessions.core.models import AdmittedPrompt
from sessions.core.store import compaction, inbox, operations
from sessions.core.store import sessions as session_store
from sessions.core.wire.messages import UserMessage
from sessions.core.wire.session import Status

DEMO = "demo"
"""A session never settles on the demo: a real model takes over as soon as there is one."""

BLOCKED_SECONDS = 2.0


async def begin(run: Run) -> UserMessage | None:
    """While nothing is going on: the prompt of a turn that goes on, or else promote every steering prompt
    that waits, or else one queued prompt. The last one promoted, or None when none waits."""
    if (prompt := await resumption.begin(run)) is not None:
        run.silent = False
        if run.taken:
            await _choose_anew(run, prompt)
        else:
            await _remember(run, prompt)
        return prompt
    if not await has_work(run.session.id):
        return None
    if await in_db(operations.make_final, run.session.id):
        run.transcript.forget()
    await _wait_for_context(run)
    waiting = await in_db(inbox.next_when_idle, run.session.id)
    run.silent = all(row.no_reply for row in waiting)
    return await _promote(run, waiting)


async def has_work(session_id: str) -> bool:
    """Whether a turn is to go on, or a prompt waits."""
    return await resumption.is_due(session_id) or bool(await in_db(inbox.waiting, session_id))


async def steer(run: Run) -> UserMessage | None:
    """Between two steps: promote the steering prompts that wait; the last of them, if any."""
    return await _promote(run, await in_db(inbox.steering, run.session.id))


async def _promote(run: Run, waiting: list[AdmittedPrompt]) -> UserMessage | None:
    promoted = None
    for row in waiting:
        choice = await next_choice(run, row)
        provider_id, _, model_id = choice.model.partition("/")
        changed = await message_parts(run.session, row, choice.agent, choice.model)
        filled = await readers.read(run, row.id, choice, changed(row.parts))
        message = await in_db(
            inbox.promote,
            row.id,
            agent=choice.agent,
            provider_id=provider_id,
            model_id=model_id,
            variant=choice.variant,
            completed=_in_turn(changed, filled, completed),
        )
        promoted = message or promoted
    if promoted is not None:
        await _remember(run, promoted)
    return promoted


def _in_turn(*steps: Filling) -> Filling:
    def made(parts: Parts) -> Parts:
        return reduce(lambda so_far, step: step(so_far), steps, parts)

    return made


async def _remember(run: Run, prompt: UserMessage) -> None:
    """What a command or a compaction brings along is for its own prompt and not the session's choice."""
    session_id = run.session.id
    session = await in_db(session_store.get, session_id)
    if session is not None and not await in_db(_brings_its_own, prompt.id):
        if prompt.model.provider_id != DEMO:
            await in_db(session_store.remember, session_id, prompt.agent, prompt.model)
        elif session.agent != prompt.agent:
            await in_db(session_store.update, session_id, agent=prompt.agent)
        session = await in_db(session_store.get, session_id)
    run.chosen = chosen_of(session) if session else ()


async def _choose_anew(run: Run, prompt: UserMessage) -> None:
    """A turn goes on with the agent and model that the session has now, which may have been the reason to
    stop; but a command or a compaction with its own."""
    brings_its_own = await in_db(_brings_its_own, prompt.id)
    session = await in_db(session_store.get, run.session.id)
    run.chosen = chosen_of(session) if session and brings_its_own else ()


def _brings_its_own(prompt_id: str) -> bool:
    return is_command(prompt_id) or compaction.is_part_of_one(prompt_id)


async def _wait_for_context(run: Run) -> None:
    """A complete baseline comes before the first promotion, so that a prompt waits rather than being answered
    without its context. Return when there is an epoch, or nothing waits any more. An agent or model that does
    not exist is told by the step."""
    attempt = 0
    while waiting := await in_db(inbox.next_when_idle, run.session.id):
        try:
            await prepare(await sample(run, await next_choice(run, waiting[0])))
            return
        except (UnknownAgent, UnknownModel):
            return
        except ContextBlocked as problem:
            attempt += 1
            await pause(run.session.id, attempt, str(problem), BLOCKED_SECONDS)
    await in_db(session_store.set_status, run.session.id, Status(type="idle"))
