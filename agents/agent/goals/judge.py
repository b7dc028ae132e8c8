"""The judge of a goal: a model that reads objective, changes and checks, and says whether to go on.

How a judge is asked is the same for others (`asked`).
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from django.utils.translation import gettext
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.agent.goals.checks import Result
from agents.agent.run import Run
from agents.llm.counted import words_of
from agents.llm.providers import UnknownModel
from agents.llm.settings.domains import Controls
from agents.llm.types import ChatMessage, Model, ModelError, ModelRequest, TextContent
from agents.toolkit.catalog import default_ref, model_for, small_model
from agents.toolkit.definitions import prompt_text
from sessions.core.models import Goal
from sessions.core.store.goals import NOBODY
from sessions.core.wire.base import FileDiff

logger = logging.getLogger(__name__)

SECONDS = 120.0
MOST_DIFF = 40_000
"""Characters of the patches that are shown; the list of files comes whole."""
MOST_SAID = 8_000
MAX_OUTPUT = 2_000
"""Tokens: some models think first."""
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)

Word = Literal["go_on", "done", "blocked", ""]


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    verdict: Literal["go_on", "done", "blocked"]
    reason: str = Field(min_length=1, max_length=4_000)


@dataclass(frozen=True, slots=True)
class Opinion:
    """`word` is empty where nobody judged; `reason` says why, or why not."""

    word: Word
    reason: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What a judge is shown beside the goal: of the session what it `changed` and what it `said` last."""

    checks: Sequence[Result]
    changed: Sequence[FileDiff]
    said: str
    turn: int
    before: str
    """What the judge said last."""


class NoJudge(Exception):
    """Nobody can be asked, or the judge did not answer; the text is for the person."""


async def opinion(run: Run, goal: Goal, seen: Seen) -> Opinion:
    """Of the goal's judge. One that cannot be asked has none, and says why."""
    if goal.judge == NOBODY:
        return Opinion("", "")
    try:
        return _read(await asked(run, goal.judge, "judge", _told(goal, seen)))
    except NoJudge as problem:
        return Opinion("", str(problem))


async def asked(run: Run, judge: str, prompt: str, told: str, *, most: int = MAX_OUTPUT) -> str:
    """The JSON object in the answer of a judge, `provider/model` or empty for the small one, to what it is
    `told` after the prompt of that name; empty without one. Raises NoJudge."""
    try:
        async with asyncio.timeout(SECONDS):
            model = await model_of(run, judge)
            if model is None or model.protocol == "scripted":
                raise NoJudge(gettext("There is no model to judge."))
            request = ModelRequest(
                model=model,
                system=[prompt_text(prompt)],
                messages=[ChatMessage("user", [TextContent(told)])],
                controls=Controls(max_output=most),
            )
            answer, _ = await words_of(run.session.id, request)
    except (TimeoutError, UnknownModel, ModelError) as error:
        words = "it took too long" if isinstance(error, TimeoutError) else str(error)
        logger.warning("the judge of session %s said nothing: %s", run.session.id, words)
        raise NoJudge(gettext("The judge could not be asked: %(words)s") % {"words": words}) from error
    found = _OBJECT.search(answer.rpartition("</think>")[2])
    return found[0] if found else ""


async def model_of(run: Run, judge: str) -> Model | None:
    """The chosen one, or the small one beside the session's. Raises UnknownModel."""
    if judge:
        return await model_for(run.directory, judge)
    ref = await default_ref(Path(run.session.directory), run.seen)
    return await small_model(run.directory, ref) or await model_for(run.directory, ref)


def _told(goal: Goal, seen: Seen) -> str:
    patches = "\n".join(diff.patch or "" for diff in seen.changed)
    told = {
        "objective": goal.objective,
        "turn": seen.turn,
        "checks": [{**one.wire(), "passed": one.passed} for one in seen.checks],
        "you_said_last": seen.before,
        "changed_files": [
            f"{diff.status} {diff.file} +{diff.additions} -{diff.deletions}" for diff in seen.changed
        ],
        "the_agent_said_last": seen.said[-MOST_SAID:],
        "patches": patches[:MOST_DIFF] + ("\n(The rest is left out.)" if len(patches) > MOST_DIFF else ""),
    }
    return json.dumps(told, ensure_ascii=False, indent=1)


UNREADABLE = "The judge gave no answer that can be read."


def _read(answer: str) -> Opinion:
    try:
        read = _Answer.model_validate_json(answer)
    except ValidationError:
        return Opinion("", UNREADABLE)
    return Opinion(read.verdict, " ".join(read.reason.split()))
