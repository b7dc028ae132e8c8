"""Who reads what is attached by an address rather than with its content; what they read stands in the user
message, so the model is shown the same from step to step.

A reader is a function from a file part of a prompt to the parts that take its place, or None for a part that
is not for it. What cannot be read is said in a text part: a prompt never fails for it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.agent.run import Run
from agents.agent.steps.sample import Choice, sample
from agents.llm.providers import UnknownModel
from agents.toolkit.definitions import UnknownAgent
from agents.toolkit.turn import Turn
from sessions.core.data_url import by_address

logger = logging.getLogger(__name__)

Parts = list[dict[str, Any]]
Filling = Callable[[Parts], Parts]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader may need: the drain, the turn that the prompt will be answered in, the prompt's id."""

    run: Run
    turn: Turn
    message_id: str


Reader = Callable[[Reading, Mapping[str, Any]], Awaitable[Parts | None]]

READERS: dict[str, Reader] = {}
"""By a name for the log; the first that takes a part reads it."""


async def read(run: Run, message_id: str, choice: Choice, parts: Parts) -> Filling:
    """Read what these parts have attached; gives a function that puts it in their place, and leaves parts
    alone that it does not know (the prompt may be edited meanwhile)."""
    wanted = {_key(part): part for part in parts if part["type"] == "file" and by_address(part)}
    found: dict[str, Parts] = {}
    if wanted:
        try:
            reading = Reading(run, await sample(run, choice), message_id)
        except (UnknownAgent, UnknownModel):
            return list  # the step says so
        found = {key: await _read(reading, part) for key, part in wanted.items()}
    return lambda given: [made for part in given for made in found.get(_key(part), [part])]


def said(text: str) -> dict[str, Any]:
    """A part that the model reads and people do not see."""
    return {"type": "text", "text": text, "synthetic": True}


async def _read(reading: Reading, part: dict[str, Any]) -> Parts:
    for name, reader in READERS.items():
        try:
            if (made := await reader(reading, part)) is not None:
                return made
        except Exception:
            logger.exception("%s could not read an attachment", name)
    return [part]


def _key(part: Mapping[str, Any]) -> str:
    return json.dumps(part, sort_keys=True)
