"""The Safe Provider-Turn Boundary, where Admitted Prompts become user messages."""

from __future__ import annotations

from functools import reduce

from django.conf import settings

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
from sessions.core.principal import paying
from sessions.core.store import compaction, inbox, operations, quotas
from sessions.core.store import sessions as session_store
from sessions.core.store.inbox import Work
from sessions.core.wire.messages import UserMessage
from sessions.core.wire.session import Status

DEMO = "demo"
"""A session never settles on the demo: a real model takes over as soon as there is one."""

BLOCKED_SECONDS = 2.0


async def look(run: Run) -> Work | None:
    """What the session has to do now; the choices of the next step are the session's as it is with this."""
    work = await in_db(inbox.work, run.session.id)
    if work is not None:
        run.seen = work.session
    return work


async def begin(run: Run, work: Work | None = None) -> UserMessage | None:
    """While nothing is going on: the prompt of a turn that goes on, or else promote every steering prompt
    that waits, or else one queued prompt. The last one promoted, or None when none waits, or a quota has it
    wait. `work` is there where it was read just now."""
    work = work or await look(run)
    if work is None:
        return None
    if settings.PEOPLE:
        paying.set(await in_db(quotas.payer, run.session.id))
    if work.state and (prompt := await resumption.begin(run, work.state)) is not None:
        run.silent, run.has_errands = False, True
        await in_db(session_store.set_status, run.session.id, Status(type="busy"))
        if run.taken:
            await _choose_anew(run, prompt)
        else:
            await _remember(run, prompt)
        return prompt
    if not work.waiting:
        return None
    held = await in_db(quotas.held, work.session) if quotas.are_set() else ""
    if held:
        return None
    run.has_errands = False
    if work.session.revert and await in_db(operations.make_final, run.session.id):
        run.transcript.forget()
        work = await look(run) or work
    waiting = await _wait_for_context(run, inbox.first_of(work.waiting))
    run.silent = all(row.no_reply for row in waiting)
    return await _promote(run, waiting, answered=not run.silent)


async def steer(run: Run) -> UserMessage | None:
    """Between two steps: promote the steering prompts that wait; the last of them, if any."""
    work = await look(run)
    return await _promote(run, inbox.steering(work.waiting) if work else [])


async def _promote(run: Run, waiting: list[AdmittedPrompt], *, answered: bool = False) -> UserMessage | None:
    promoted = None
    if settings.PEOPLE and waiting:
        paying.set(await in_db(quotas.payer_of, run.session.id, waiting[-1].id))
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
            completed=_in_turn(changed, filled, completed, run.note_errands),
            answered=answered,
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
    if not await _brings_its_own(run, prompt):
        chosen = {"agent": prompt.agent}
        if prompt.model.provider_id != DEMO:
            chosen["provider_id"], chosen["model_id"] = prompt.model.provider_id, prompt.model.model_id
            chosen["variant"] = prompt.model.variant or ""
        new = {column: value for column, value in chosen.items() if getattr(run.seen, column) != value}
        if new:
            await in_db(session_store.update, run.session.id, **new)
        for column, value in new.items():
            setattr(run.seen, column, value)
    run.chosen = chosen_of(run.seen)


async def _choose_anew(run: Run, prompt: UserMessage) -> None:
    """A turn goes on with the agent and model that the session has now, which may have been the reason to
    stop; but a command or a compaction with its own."""
    run.chosen = chosen_of(run.seen) if await _brings_its_own(run, prompt) else ()


async def _brings_its_own(run: Run, prompt: UserMessage) -> bool:
    return run.has_errands and await in_db(_brings, prompt.id)


def _brings(prompt_id: str) -> bool:
    return is_command(prompt_id) or compaction.is_part_of_one(prompt_id)


async def _wait_for_context(run: Run, waiting: list[AdmittedPrompt]) -> list[AdmittedPrompt]:
    """A complete baseline comes before the first promotion, so that a prompt waits rather than being answered
    without its context. What waits when there is an epoch; empty when nothing does any more. An agent or
    model that does not exist is told by the step."""
    attempt = 0
    while waiting:
        try:
            await prepare(await sample(run, await next_choice(run, waiting[0])))
            return waiting
        except (UnknownAgent, UnknownModel):
            return waiting
        except ContextBlocked as problem:
            attempt += 1
            await pause(run.session.id, attempt, str(problem), BLOCKED_SECONDS)
        work = await look(run)
        waiting = inbox.first_of(work.waiting) if work else []
    await in_db(session_store.set_status, run.session.id, Status(type="idle"))
    return []
