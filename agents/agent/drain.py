"""The Session Drain: promote a prompt, take steps until none is due, then the next prompt."""

from __future__ import annotations

import asyncio

from agents.agent import boundary, shell, summaries, titles
from agents.agent.commands import expansion as commands
from agents.agent.compaction.compaction import compact
from agents.agent.compaction.relief import make_room, prune
from agents.agent.comparisons.measuring import measure
from agents.agent.goals.pursuit import pursue
from agents.agent.run import Run
from agents.agent.step import Outcome, step
from agents.agent.subtasks import run_subtasks
from agents.tools.structured import form_of
from sessions.core.db import in_db
from sessions.core.store import compaction, inbox, pursuits, schedules, shells
from sessions.core.store import sessions as session_store
from sessions.core.store.inbox import Work
from sessions.core.wire.messages import UserMessage
from sessions.core.wire.session import Status


async def drain(run: Run, work: Work | None = None) -> None:
    """Work until the session has nothing to do; the session's lease is ours. `work` is there where it was
    read just now."""
    while (prompt := await boundary.begin(run, work)) is not None or await pursue(run) or await measure(run):
        work = None
        if prompt is None:
            continue
        run.error, run.rejected, run.instead, run.longer = None, False, {}, False
        run.allow_anew()
        if run.silent:
            continue
        run.budgeted = run.has_errands and await in_db(schedules.has_budget, run.session.id)
        run.spawn(asyncio.to_thread(run.tracker.warm))
        run.spawn(titles.give_title(run, prompt))
        last = await _answer(run, prompt)
        await summaries.summarise(run.session, last.id)
        await prune(run)
        run.answered = prompt
        if await in_db(inbox.has_work, run.session.id):
            await _tell(run)
        elif await in_db(pursuits.due, run.session.id):
            await finished(run)  # the session works on: its turns are judged first
        else:
            return  # it is told with the release of the lease


async def _tell(run: Run) -> None:
    """Tell of the turn that has ended in order, unless it was told of."""
    if run.answered is not None:
        await in_db(session_store.set_status, run.session.id, Status(type="idle"), error=run.error)
        await finished(run)


async def finished(run: Run) -> None:
    """Do what comes after a turn that ended in order and was told to have."""
    prompt, run.answered = run.answered, None
    if prompt is not None and run.has_errands:
        await commands.finished(run, prompt)


async def _answer(run: Run, prompt: UserMessage) -> UserMessage:
    """Act until no continuation is due; the last prompt that was answered. A prompt that steers resets the
    allowance of steps and calls; to make room in the window does not."""
    taken, run.form = run.taken, form_of(prompt.format)
    run.taken = 0
    while (outcome := await _act(run, prompt, taken)) is not Outcome.DONE:
        taken += outcome is Outcome.CONTINUE
        steered = await boundary.steer(run)
        if steered is not None:
            run.form = form_of(steered.format, run.form)
            run.allow_anew()
            prompt, taken = steered, 0 if outcome is Outcome.CONTINUE else taken
        elif outcome is Outcome.COMPACTED:
            break
        if run.budgeted and not run.exhausted:
            run.exhausted = await in_db(schedules.is_spent, run.session.id)
    return prompt


async def _act(run: Run, prompt: UserMessage, taken: int) -> Outcome:
    """What a prompt is due: the compaction that it asks for, its shell command, its errands, a step."""
    if run.has_errands:
        if (command := await in_db(shells.requested, prompt.id)) is not None:
            await shell.run_shell(run, prompt, command)
            return Outcome.DONE
        if asked := await in_db(compaction.requested, prompt.id):
            return Outcome.COMPACTED if await compact(run, prompt, asked) else Outcome.DONE
        if not (taken or await commands.expand(run, prompt)) or not await run_subtasks(run, prompt):
            return Outcome.DONE
        await boundary.look(run)
    outcome = await step(run, prompt, taken)
    if outcome is not Outcome.OVERFLOW:
        return outcome
    await summaries.summarise(run.session)
    await boundary.look(run)
    return outcome if await make_room(run, prompt) else Outcome.DONE
