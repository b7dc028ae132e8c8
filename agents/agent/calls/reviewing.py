"""A model that reads what would be asked before a person is (docs/decisions/0038-reviewed.md).

It may say yes to that one call, with its reason. Whatever else comes of it means that the person is asked.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.agent.run import Run
from agents.config.schema import ReviewerConfig
from agents.llm import stream
from agents.llm.counted import spend
from agents.llm.providers import UnknownModel
from agents.llm.settings.domains import Controls
from agents.llm.types import ChatMessage, Finish, Model, ModelError, ModelRequest, TextContent, TextDelta
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
            said = await _said(run, model, reviewer.instructions or prompt_text("reviewer"), text)
        return _read(said)
    except (TimeoutError, UnknownModel, ModelError) as error:
        words = "it took too long" if isinstance(error, TimeoutError) else str(error)
        logger.warning("the reviewer %s said nothing: %s", reviewer.model, words)
        return Opinion(allow=False, reason=f"The reviewer could not be asked: {words}")


def _read(said: str) -> Opinion:
    found = _OBJECT.search(said.rpartition("</think>")[2])
    try:
        answer = _Answer.model_validate_json(found[0] if found else "")
    except ValidationError:
        return Opinion(allow=False, reason="The reviewer gave no answer that can be read.")
    return Opinion(answer.allow, " ".join(answer.reason.split()))


async def _said(run: Run, model: Model, system: str, text: str) -> str:
    """Raises ModelError."""
    request = ModelRequest(
        model=model,
        system=[system],
        messages=[ChatMessage("user", [TextContent(text)])],
        controls=Controls(max_output=MAX_OUTPUT),
    )
    pieces: list[str] = []
    try:
        async with aclosing(stream(request)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    pieces.append(event.text)
                elif isinstance(event, Finish):
                    await spend(run.session.id, model, event.usage)
    except ModelError as error:
        await spend(run.session.id, model, error.usage)
        raise
    return "".join(pieces)
