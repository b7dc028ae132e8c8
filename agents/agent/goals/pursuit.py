"""Work at a goal: judge the turn that has ended, and admit the next prompt or leave it.

It runs under the session's lease, where nothing else is to be done. What it finds is written in one
transaction with what follows (`sessions.core.store.goals`): a crash before that has the checks run again, one
after it finds the next prompt in the inbox.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from django.utils.translation.trans_null import gettext_noop

from agents.agent.boundary import look
from agents.agent.goals import judge
from agents.agent.goals.checks import Result, parse
from agents.agent.goals.checks import run as check
from agents.agent.goals.judge import Opinion, Seen
from agents.agent.run import Run
from agents.agent.steps.sample import Choice, sample
from agents.config.configuration import load
from agents.llm.providers import UnknownModel
from agents.toolkit.catalog import default_ref
from agents.toolkit.definitions import UnknownAgent, default_name
from agents.toolkit.turn import Turn
from sessions.changes.review.filediffs import Changed, changed, file_diffs
from sessions.changes.upkeep.caretaker import caretaker
from sessions.core.db import in_db
from sessions.core.fence import LeaseLost
from sessions.core.models import Goal, Verdict
from sessions.core.store import children, goals, quotas
from sessions.core.store import sessions as session_store
from sessions.core.wire.session import Status

logger = logging.getLogger(__name__)

State = Goal.State
UNKNOWN = gettext_noop("An internal error kept it from being judged; the log has the details.")
NOBODY_JUDGES = gettext_noop("Its checks pass, and nobody could judge whether the objective is reached.")
MOST_TOLD = 2_000
"""Characters of the end of what a check said that the agent is told."""


async def pursue(run: Run) -> bool:
    """Judge the session's goal, if it is due. Whether there is something to do again."""
    goal = await in_db(goals.active, run.session.id)
    work = await look(run) if goal is not None else None
    if goal is None or work is None or work.waiting or work.state:
        return False
    held = await in_db(quotas.held, work.session) if quotas.are_set() else ""
    if held:
        return False
    try:
        return await _judge(run, goal)
    except LeaseLost:
        raise
    except Exception:
        logger.exception("the goal of session %s could not be judged", run.session.id)
        await in_db(goals.halt, goal, State.BLOCKED, UNKNOWN)
        return False


async def _judge(run: Run, goal: Goal) -> bool:
    if run.rejected:
        await in_db(goals.halt, goal, State.PAUSED, gettext_noop("You rejected a call."))
        return False
    if words := await in_db(goals.obstacle, goal):
        await in_db(goals.halt, goal, State.BLOCKED, words)
        return False
    if not await in_db(goals.look, goal, "", begins=True):
        return False
    await in_db(session_store.set_status, run.session.id, Status(type="busy"))
    try:
        turn = await turn_of(run)
    except (UnknownAgent, UnknownModel) as error:
        await in_db(goals.halt, goal, State.BLOCKED, str(error))
        return False
    done = await changed(run.session)
    results: list[Result] = []
    for line in goal.checks:
        if not await in_db(goals.look, goal, line):
            return False
        results.append(await check(run, turn, parse(line), done))
    if goal.judge != goals.NOBODY and not await in_db(goals.look, goal, gettext_noop("The judge reads")):
        return False
    before = await in_db(goals.last_verdict, goal)
    diffs = await asyncio.to_thread(file_diffs, done.files, done.roots)
    number = before.number + 1 if before else 1
    said = await in_db(children.last_text, run.session.id, "")
    seen = Seen(results, diffs, said, number, before.words if before else "")
    found = await judge.opinion(run, goal, seen)
    verdict = _verdict(results, found, done)
    outcome = await in_db(goals.settle, goal, verdict, lambda: next_parts(goal, results, found))
    if outcome != "go_on":
        return False
    caretaker.turn_ended(run.session)  # the drain may go on for hours
    return True


async def turn_of(run: Run) -> Turn:
    """On the terms on which the session's agent works. Raises UnknownAgent and UnknownModel."""
    config = (await asyncio.to_thread(load, run.directory)).config
    agent = run.seen.agent or default_name(config)
    return await sample(run, Choice(agent, await default_ref(run.directory, run.seen)))


def _verdict(results: Sequence[Result], found: Opinion, done: Changed) -> Verdict:
    failed = [one for one in results if not one.passed]
    outcome, reason = "go_on", found.reason
    if not failed and found.word == "done":
        outcome = State.DONE.value
    elif not failed and not found.word:
        outcome = State.DONE.value if results and not found.reason else State.BLOCKED.value
        reason = f"{NOBODY_JUDGES} {found.reason}" if outcome == State.BLOCKED else ""
    return Verdict(
        checks=[one.wire() for one in results],
        word=found.word,
        words=found.reason,
        outcome=outcome,
        reason=reason,
        digest=_digest(failed, done),
    )


def _digest(failed: Sequence[Result], done: Changed) -> str:
    files = [(file.path, file.after, file.mode_after) for file in done.files]
    seen = [[(one.check, one.exit) for one in failed], files]
    return sha256(json.dumps(seen, default=str).encode()).hexdigest()


# What the agent is told.

FIRST = "You work at this by yourself: each of your turns is looked at, and you go on until it is reached."


def first_parts(goal: Goal) -> list[dict[str, Any]]:
    """Of the prompt that a goal begins with: what the person wrote, and how it is judged."""
    told = [FIRST]
    if goal.checks:
        told += ["It is reached when all of these hold:", *(f"- {_meaning(line)}" for line in goal.checks)]
    if goal.judge != goals.NOBODY:
        told.append("A judge reads what was changed. A check that was weakened does not count.")
    return [
        {"type": "text", "text": goal.objective, "metadata": {goals.MARK: goal.id}},
        {"type": "text", "text": "\n".join(told), "synthetic": True, "metadata": {goals.MARK: goal.id}},
    ]


def next_parts(goal: Goal, results: Sequence[Result], found: Opinion) -> list[dict[str, Any]]:
    """Of the prompt that follows a verdict."""
    failed = [one for one in results if not one.passed]
    told = ["The goal is not reached yet. Go on."]
    for one in failed:
        status = f", exit status {one.exit}" if one.exit is not None else ""
        told.append(f"This does not hold{status}: {_meaning(one.check)}")
        if one.output.strip():
            told.append(f"```\n{one.output.strip()[-MOST_TOLD:]}\n```")
    if passed := len(results) - len(failed):
        told.append(f"{passed} of {len(results)} checks pass.")
    if found.word:
        told.append(f"The judge: {found.reason}")
    told.append(f"The goal, as it was set:\n\n{goal.objective}")
    return [{"type": "text", "text": "\n\n".join(told), "metadata": {goals.MARK: goal.id}}]


def _meaning(line: str) -> str:
    one = parse(line)
    return {
        "command": f"`{one.subject}` ends with status 0.",
        "coverage": f"`{one.subject}` measures at least {one.least:g} %.",
        "file": f"There is a file {one.subject}.",
        "problems": "The language servers find no error in what you change that was not there before.",
    }[one.kind]
