"""The judge of a goal: a model that reads objective, changes and checks, and says whether to go on."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

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


async def opinion(run: Run, goal: Goal, seen: Seen) -> Opinion:
    """Of the goal's judge. One that cannot be asked has none, and says why."""
    if goal.judge == NOBODY:
        return Opinion("", "")
    try:
        async with asyncio.timeout(SECONDS):
            model = await model_of(run, goal)
            if model is None or model.protocol == "scripted":
                return Opinion("", "There is no model to judge.")
            request = ModelRequest(
                model=model,
                system=[prompt_text("judge")],
                messages=[ChatMessage("user", [TextContent(_told(goal, seen))])],
                controls=Controls(max_output=MAX_OUTPUT),
            )
            answer, _ = await words_of(run.session.id, request)
    except (TimeoutError, UnknownModel, ModelError) as error:
        words = "it took too long" if isinstance(error, TimeoutError) else str(error)
        logger.warning("the judge of session %s said nothing: %s", run.session.id, words)
        return Opinion("", f"The judge could not be asked: {words}")
    return _read(answer)


async def model_of(run: Run, goal: Goal) -> Model | None:
    """The chosen one, or the small one beside the session's. Raises UnknownModel."""
    if goal.judge:
        return await model_for(run.directory, goal.judge)
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


def _read(words: str) -> Opinion:
    found = _OBJECT.search(words.rpartition("</think>")[2])
    try:
        answer = _Answer.model_validate_json(found[0] if found else "")
    except ValidationError:
        return Opinion("", "The judge gave no answer that can be read.")
    return Opinion(answer.verdict, " ".join(answer.reason.split()))
