"""What the tests of the readers share: a request to a loopback model, and its events read to the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Literal

from agents.llm.settings.ingest import settings_of
from agents.llm.types import (
    ChatMessage,
    Content,
    Model,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    TextContent,
    TextDelta,
    ToolInputDelta,
    ToolSpec,
)

Protocol = Literal["openai", "responses", "anthropic", "litellm", "scripted"]
READ = ToolSpec("read", "Read a file.", {"type": "object", "properties": {"filePath": {"type": "string"}}})
LIST = ToolSpec("list", "List a folder.", {"type": "object", "properties": {}})


def model(
    base_url: str = "",
    protocol: Protocol = "openai",
    *,
    options: Mapping[str, Any] | None = None,
    **given: Any,
) -> Model:
    """`options` as configuration has them."""
    known = {"api_model": "fake", "base_url": base_url, "settings": settings_of(options or {})}
    return Model("fake", "m", "M", protocol, **{**known, **given})


def request(
    asked: Model, *messages: ChatMessage, tools: Sequence[ToolSpec] = (READ, LIST), **given: Any
) -> ModelRequest:
    """`given`: options as configuration has them."""
    said = settings_of(given)
    words = messages or (user("Hi"),)
    return ModelRequest(asked, ["Be brief."], words, tools, said.controls, said.options, said.body)


def user(*content: Content | str) -> ChatMessage:
    return ChatMessage("user", [TextContent(item) if isinstance(item, str) else item for item in content])


async def events(
    read: Callable[[ModelRequest], AsyncGenerator[ModelEvent, None]], asked: ModelRequest
) -> list[ModelEvent]:
    async with aclosing(read(asked)) as stream:
        return [event async for event in stream]


def joined(given: Iterable[ModelEvent]) -> list[ModelEvent]:
    """The events with deltas that follow one another made one: where a text is cut means nothing."""
    out: list[ModelEvent] = []
    for event in given:
        match (out[-1] if out else None), event:
            case TextDelta(before), TextDelta(text):
                out[-1] = TextDelta(before + text)
            case ReasoningDelta(before), ReasoningDelta(text):
                out[-1] = ReasoningDelta(before + text)
            case ToolInputDelta(call, before), ToolInputDelta(same, text) if call == same:
                out[-1] = ToolInputDelta(call, before + text)
            case _:
                out.append(event)
    return out
