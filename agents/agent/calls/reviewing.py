"""A model that reads what would be asked before a person is (docs/decisions/0038-reviewed.md).

It may say yes to that one call, with its reason. Whatever else comes of it means that the person is asked.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.agent.run import Run
from agents.config.schema import ReviewerConfig
from agents.llm.counted import words_of
from agents.llm.providers import UnknownModel
from agents.llm.settings.domains import Controls
from agents.llm.types import ChatMessage, ModelError, ModelRequest, TextContent
from agents.toolkit.catalog import model_for
from agents.toolkit.definitions import prompt_text
from sessions.core.db import in_db
from sessions.core.store import messages

logger = logging.getLogger(__name__)

SECONDS = 60.0
MOST = 40_000
"""Characters of a request that are shown; of a longer one the rest could be what matters."""
MAX_PROMPT = 8_000
MAX_OUTPUT = 2_000
"""Tokens: some models think first."""
_TOO_LONG = "It is too long for the reviewer to read."
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


class _Answer(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    allow: bool
    reason: str = Field(min_length=1, max_length=1_000)


@dataclass(frozen=True, slots=True)
class Opinion:
    """`reason` is for people: why it goes through, or why they are asked all the same."""

    allow: bool
    reason: str


async def opinion(run: Run, reviewer: ReviewerConfig, asked: Mapping[str, Any]) -> Opinion:
    """What the reviewer says of a request (permission, patterns, and what the card shows)."""
    wanted = (await in_db(messages.last_prompt_text, run.session.id))[:MAX_PROMPT]
    told = {**asked, "folder": str(run.directory), "project": str(run.worktree), "the_person_wanted": wanted}
    text = json.dumps(told, ensure_ascii=False, default=str, indent=1)
    if len(text) > MOST:
        return Opinion(allow=False, reason=_TOO_LONG)
    try:
        async with asyncio.timeout(SECONDS):
            model = await model_for(run.directory, reviewer.model)
            request = ModelRequest(
                model=model,
                system=[reviewer.instructions or prompt_text("reviewer")],
                messages=[ChatMessage("user", [TextContent(text)])],
                controls=Controls(max_output=MAX_OUTPUT),
            )
            answer, _ = await words_of(run.session.id, request)
        return _read(answer)
    except (TimeoutError, UnknownModel, ModelError) as error:
        words = "it took too long" if isinstance(error, TimeoutError) else str(error)
        logger.warning("the reviewer %s said nothing: %s", reviewer.model, words)
        return Opinion(allow=False, reason=f"The reviewer could not be asked: {words}")


def _read(words: str) -> Opinion:
    found = _OBJECT.search(words.rpartition("</think>")[2])
    try:
        answer = _Answer.model_validate_json(found[0] if found else "")
    except ValidationError:
        return Opinion(allow=False, reason="The reviewer gave no answer that can be read.")
    return Opinion(answer.allow, " ".join(answer.reason.split()))
