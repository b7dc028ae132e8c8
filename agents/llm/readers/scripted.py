"""The demo model `demo/scripted`: no network, no learning, the same steps every time.

It looks at what the conversation holds since the last user message and takes the next step of a fixed
round. So the real loop, the real tools and the real questions are seen before any key is set.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Sequence

from agents.llm.readers import script
from agents.llm.types import (
    ChatMessage,
    Finish,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    ReasoningEnd,
    TextContent,
    TextDelta,
    ToolCall,
    ToolInputDelta,
    ToolInputStart,
    ToolResultContent,
    Usage,
)

_DELAY = 0.02
_CHUNK = re.compile(r"(?:\s*\S{1,16}){1,3}|\s+")
_IS_GIT = "Is directory a git repository: yes"
_CHARACTERS_PER_TOKEN = 4


async def read(request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Play the next step. Option `delay`: seconds between two chunks (0.02)."""
    delay = float(request.settings.body.get("delay", _DELAY))
    step = _next_step(request)
    spoken = 0
    for event in _events(step, len(request.messages)):
        if isinstance(event, TextDelta | ToolInputDelta):
            spoken += len(event.text)
        if not isinstance(event, ToolCall):
            await asyncio.sleep(delay)
        yield event
    heard = sum(map(len, request.system)) + sum(map(_length, request.messages))
    usage = Usage(
        input=heard // _CHARACTERS_PER_TOKEN,
        output=spoken // _CHARACTERS_PER_TOKEN,
        reasoning=len(step.thoughts) // _CHARACTERS_PER_TOKEN,
    )
    yield Finish("tool-calls" if step.calls else "stop", usage)


def _next_step(request: ModelRequest) -> script.Step:
    """The first scene of the round that is not over and has tools on offer; the summary after the last."""
    offered = {tool.name for tool in request.tools}
    if not offered:
        return script.WITHOUT_TOOLS
    turn = _this_turn(request.messages)
    seen = script.Seen(_results(turn), any(_IS_GIT in text for text in request.system))
    apology = script.apology(_results(turn[-1:]))
    for scene in script.ROUND:
        if scene.is_over(seen):
            continue
        step = scene.write(seen)
        if calls := [call for call in step.calls if call.name in offered]:
            return script.Step(apology + step.text, calls, step.thoughts)
    return script.Step(apology + script.summary(seen).text)


def _events(step: script.Step, position: int) -> Iterator[ModelEvent]:
    """The step as a provider would stream it; `position` makes the ids of the calls differ between steps."""
    if step.thoughts:
        yield from (ReasoningDelta(chunk) for chunk in _CHUNK.findall(step.thoughts))
        yield ReasoningEnd()
    yield from (TextDelta(chunk) for chunk in _CHUNK.findall(step.text))
    calls = [
        (f"demo_{position}_{number}", call, json.dumps(dict(call.input)))
        for number, call in enumerate(step.calls)
    ]
    for call_id, call, raw in calls:
        yield ToolInputStart(call_id, call.name)
        for chunk in _CHUNK.findall(raw):
            yield ToolInputDelta(call_id, chunk)
    for call_id, call, raw in calls:
        yield ToolCall(call_id, call.name, call.input, raw)


def _this_turn(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    last = max((n for n, message in enumerate(messages) if message.role == "user"), default=-1)
    return messages[last + 1 :]


def _results(messages: Sequence[ChatMessage]) -> list[ToolResultContent]:
    return [item for message in messages for item in message.content if isinstance(item, ToolResultContent)]


def _length(message: ChatMessage) -> int:
    texts = (item.text for item in message.content if isinstance(item, TextContent))
    return sum(map(len, texts)) + sum(len(result.output) for result in _results([message]))
