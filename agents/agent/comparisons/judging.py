"""The judge of a comparison: a model that reads the task and what each attempt came to, in one question."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

from django.utils.translation.trans_null import gettext_noop
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.agent.goals.judge import UNREADABLE, NoJudge, asked
from agents.agent.run import Run
from sessions.changes.review.filediffs import changed, file_diffs
from sessions.core.db import in_db
from sessions.core.models import Attempt, Comparison
from sessions.core.store import children, comparisons
from sessions.core.wire.base import FileDiff

MOST_DIFFS = 80_000
"""Characters of the patches of all attempts that are shown; the lists of files come whole."""
MOST_SAID = 3_000
MOST_OUTPUT = 1_000
"""Characters of the end of what a check said."""
MAX_OUTPUT = 4_000
"""Tokens: some models think first."""
READS = gettext_noop("The judge reads")


class _Words(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    number: int
    words: str = Field(max_length=4_000)


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    best: int = Field(ge=0)
    reason: str = Field(min_length=1, max_length=4_000)
    attempts: list[_Words] = Field(default_factory=list)


async def judge(run: Run, attempt: Attempt) -> None:
    """Ask, and write what is said of all; where nobody can be asked, why."""
    comparison = attempt.comparison
    if not await in_db(comparisons.look, attempt, READS):
        return
    rows = await in_db(comparisons.attempts, comparison)
    try:
        told = await _told(comparison, rows)
        answer = await asked(run, comparison.judge, "judge-attempts", told, most=MAX_OUTPUT)
        read = _Answer.model_validate_json(answer)
    except NoJudge as problem:
        await in_db(comparisons.judged, attempt, 0, str(problem), {})
        return
    except ValidationError:
        await in_db(comparisons.judged, attempt, 0, UNREADABLE, {})
        return
    there = {row.number for row in rows if row.session_id}
    words = {one.number: _line(one.words) for one in read.attempts if one.number in there}
    best = read.best if read.best in there else 0
    await in_db(comparisons.judged, attempt, best, _line(read.reason), words)


def _line(text: str) -> str:
    return " ".join(text.split())


async def _told(comparison: Comparison, rows: Sequence[Attempt]) -> str:
    """What works at it is not told: names of models have their fame."""
    room = MOST_DIFFS // max(len(rows), 1)
    told = {
        "task": comparison.prompt,
        "attempts": [await _attempt(row, room) for row in rows if row.session_id],
    }
    return json.dumps(told, ensure_ascii=False, indent=1)


async def _attempt(row: Attempt, room: int) -> dict[str, Any]:
    assert row.session is not None
    done = await changed(row.session)
    diffs: Sequence[FileDiff] = await asyncio.to_thread(file_diffs, done.files, done.roots)
    patches = "\n".join(diff.patch or "" for diff in diffs)
    return {
        "number": row.number,
        "ended_with": row.error or "in order",
        "checks": [{**check, "output": check["output"][-MOST_OUTPUT:]} for check in row.checks],
        "tests": row.tests,
        "errors_of_language_servers": {"before": row.problems_before, "after": row.problems_after},
        "changed_files": [f"{one.status} {one.file} +{one.additions} -{one.deletions}" for one in diffs],
        "said_last": (await in_db(children.last_text, row.session.id, ""))[-MOST_SAID:],
        "patches": patches[:room] + ("\n(The rest is left out.)" if len(patches) > room else ""),
    }
