"""Ask the user and wait for the answers without holding a thread (seed 004 §8; the `question` tool)."""

from __future__ import annotations

from collections.abc import Sequence

from agents.tools.base import Question, ToolError
from agents.turn import Turn
from sessions.wire.parts import ToolPart


async def ask(turn: Turn, part: ToolPart, questions: Sequence[Question]) -> list[list[str]]:
    raise ToolError("Questions cannot be asked yet.")
