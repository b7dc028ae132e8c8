"""Have the summary written: the record of the conversation goes to the agent `compaction`, shortened until it
fits (seed 004 §4.2, stage 2)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any

from agents.compaction import estimate, record
from agents.compaction.budget import Budget, budget
from agents.compaction.entries import Entry
from agents.llm import stream
from agents.llm.types import (
    ChatMessage,
    ContextOverflow,
    Finish,
    ModelError,
    ModelRequest,
    ReasoningDelta,
    ReasoningEnd,
    TextContent,
    TextDelta,
)
from agents.plugins.hooks import trigger
from agents.runtime.run import Run
from agents.runtime.steps.recorder import Recorder
from agents.runtime.steps.request import base_prompt, settings_of
from agents.runtime.steps.trouble import pause
from agents.turn import Turn

MOST_TRIES = 4
"""How often the record is sent, each time half as long, when it does not fit."""
FRAME_TOKENS = 200
"""The words around the record."""
LEAST_BYTES = 2_000


@dataclass(frozen=True, slots=True)
class Written:
    finish: Finish
    text: str


async def write(run: Run, recorder: Recorder, turn: Turn, entries: Sequence[Entry]) -> Written:
    """The summary of projected entries, streamed into the message. Raises ModelError."""
    found = record.blocks(entries, turn.model)
    if not found:
        raise ModelError("There is nothing to compact yet.")
    room = budget(turn.model, turn.config.compaction)
    instructions = await _instructions(turn)
    spare = room.usable - estimate.tokens(sum(map(estimate.size, instructions))) - FRAME_TOKENS
    most = min(max(spare * estimate.BYTES_PER_TOKEN, LEAST_BYTES), record.whole_size(found))
    attempt = tries = 0
    while True:
        try:
            return await _stream(_request(turn, room, instructions, record.text_of(found, most)), recorder)
        except ContextOverflow as error:
            tries += 1
            if tries == MOST_TRIES:
                raise _too_long(turn, room, most, error) from error
            await recorder.retrying(tries, error)
            most = max(most // 2, LEAST_BYTES)
        except ModelError as error:
            attempt += 1
            await pause(run, recorder, attempt, error)


async def _instructions(turn: Turn) -> tuple[str, str]:
    """The system text, and what plugins want to be remembered."""
    given: dict[str, Any] = {"context": [], "prompt": None}
    made = await trigger(
        turn.session, "experimental.session.compacting", {"sessionID": turn.session.id}, given
    )
    return made["prompt"] or base_prompt(turn), "\n\n".join(made["context"])


def _request(turn: Turn, room: Budget, instructions: tuple[str, str], text: str) -> ModelRequest:
    """No tools; the answer may be as long as what is kept free for it."""
    system, more = instructions
    settings = settings_of(turn)
    most = settings.controls.max_output or max(room.reserved, room.window // 8)
    words = f"This is the conversation.\n\n<conversation>\n{text}\n</conversation>\n\n"
    words += f"Keep in mind as well:\n\n{more}\n\n" if more else ""
    return ModelRequest(
        model=turn.model,
        system=[system],
        messages=[ChatMessage("user", [TextContent(f"{words}Write the summary now.")])],
        controls=replace(settings.controls, max_output=most),
        options=settings.options,
        body=settings.body,
    )


async def _stream(request: ModelRequest, recorder: Recorder) -> Written:
    """Only words count: there are no tools to be called."""
    said: list[str] = []
    async with aclosing(stream(request)) as events:
        async for event in events:
            if isinstance(event, Finish):
                return _written(event, "".join(said))
            if isinstance(event, TextDelta):
                said.append(event.text)
            if isinstance(event, TextDelta | ReasoningDelta | ReasoningEnd):
                await recorder.take(event)
    raise ModelError("The model's summary ended without an end.", retryable=True)


def _written(finish: Finish, text: str) -> Written:
    if not text.strip():
        raise ModelError("The conversation was not compacted: the model wrote no summary.")
    return Written(finish, text)


def _too_long(turn: Turn, room: Budget, most: int, error: ModelError) -> ContextOverflow:
    return ContextOverflow(
        f"The conversation could not be compacted: shortened to about {estimate.tokens(most):,} tokens it "
        f"still did not fit {turn.model.ref} ({room.words()}). Nothing was lost. Choose a model with a "
        f"larger window, or start a new session. The provider said: {error.message}"
    )
