"""Measure an attempt of a comparison where its session has nothing else to do; one of them judges them all.

It runs under the session's lease. What was found is written in one transaction: a crash before that has it
measured again, which only looks (docs/decisions/0066-comparisons.md).
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from django.utils.translation.trans_null import gettext_noop

from agents.agent.boundary import look
from agents.agent.comparisons import junit
from agents.agent.comparisons.judging import judge
from agents.agent.goals import checks
from agents.agent.goals.pursuit import turn_of
from agents.agent.run import Run
from agents.llm.providers import UnknownModel
from agents.toolkit.definitions import UnknownAgent
from sessions.changes.review.filediffs import changed, file_diffs
from sessions.core.db import in_db
from sessions.core.fence import LeaseLost
from sessions.core.models import Attempt
from sessions.core.store import comparisons, goals
from sessions.core.store import sessions as session_store
from sessions.core.store.comparisons import Measure
from sessions.core.wire.session import Status

logger = logging.getLogger(__name__)

UNKNOWN = gettext_noop("An internal error kept it from being measured; the log has the details.")
LOOKS = gettext_noop("Language servers look")


async def measure(run: Run) -> bool:
    """Measure the session, if it is an attempt that is due, or have it judge all. Whether there is something
    to do again."""
    attempt = await in_db(comparisons.due, run.session.id)
    work = await look(run) if attempt is not None else None
    if attempt is None or work is None or work.waiting or work.state:
        return False
    if await in_db(goals.active, run.session.id) is not None:
        return False
    judges = attempt.state == Attempt.State.JUDGING
    try:
        if await in_db(comparisons.look, attempt, "", begins=True):
            await in_db(session_store.set_status, run.session.id, Status(type="busy"))
            if judges:
                await judge(run, attempt)
            else:
                return await _measure(run, attempt)
    except LeaseLost:
        raise
    except Exception:
        logger.exception("attempt %s of %s could not be measured", attempt.number, attempt.comparison_id)
        if judges:
            await in_db(comparisons.judged, attempt, 0, UNKNOWN, {})
        else:
            return await _write(run, attempt, Measure(error=UNKNOWN))
    return False


async def _measure(run: Run, attempt: Attempt) -> bool:
    error = await in_db(comparisons.obstacle, attempt)
    done = await changed(run.session)
    diffs = await asyncio.to_thread(file_diffs, done.files, done.roots)
    sizes: dict[str, Any] = {
        "files": len(done.files),
        "additions": sum(diff.additions for diff in diffs),
        "deletions": sum(diff.deletions for diff in diffs),
    }
    try:
        turn = await turn_of(run)
    except (UnknownAgent, UnknownModel) as problem:
        return await _write(run, attempt, Measure(error=error or str(problem), **sizes))
    before = await asyncio.to_thread(junit.reports, run.worktree) if attempt.comparison.checks else {}
    results = []
    for line in attempt.comparison.checks:
        if not await in_db(comparisons.look, attempt, line):
            return False
        results.append(await checks.run(run, turn, checks.parse(line), done))
    tests = await asyncio.to_thread(junit.counted, run.worktree, before) if results else {}
    if not await in_db(comparisons.look, attempt, LOOKS):
        return False
    found = await checks.errors(turn, done)
    problems = (found.before, found.after) if found else None
    given = [one.wire() for one in results]
    return await _write(run, attempt, Measure(given, tests, problems, error=error, **sizes))


async def _write(run: Run, attempt: Attempt, measure: Measure) -> bool:
    """Whether the same session is to judge now. Others may begin, or one of them is to judge."""
    judges = await in_db(comparisons.measured, attempt, measure)
    run.measured("" if judges == run.session.id else judges)
    return judges == run.session.id
