"""The reader through litellm against the direct readers: one script, the same events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from agents.llm.readers import anthropic_messages, litellm_reader, openai_chat
from agents.llm.types import (
    AuthFailed,
    ChatMessage,
    ContextOverflow,
    Finish,
    Model,
    ModelError,
    ModelEvent,
    ReasoningContent,
    TextContent,
    TextDelta,
    ToolCallContent,
    ToolResultContent,
    Usage,
)
from tests.agents.llm.asking import events, joined, model, request, user
from tests.loopback.anthropic import AnthropicServer
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Cut, Empty, HttpError, StreamError, TokenUsage, ToolUse, Turn, Wait
from tests.loopback.server import LoopbackServer

pytestmark = pytest.mark.litellm

FULL = Turn(
    reasoning=["Let me ", "see."],
    signature="c2lnbmVk",
    text=["Grüße, ", "wörld"],
    tools=[ToolUse("read", {"filePath": "ä.py"}, "call_a"), ToolUse("list", {}, "call_b")],
    usage=TokenUsage(10, 5, 3, 7, 0),
)
SPOKEN = Turn(text=["Done"] * 120, finish="length", usage=TokenUsage(4, 2))


def through_litellm(server: LoopbackServer) -> Model:
    if isinstance(server, OpenAIServer):
        return model(server.base_url, "litellm", api_model="openai/fake", api_key="sk-loopback")
    return model(server.url, "litellm", api_model="anthropic/fake", api_key="sk-loopback")


def without_guess(event: ModelEvent) -> ModelEvent:
    """litellm estimates the reasoning of protocols that do not count it; the sum is the provider's."""
    if not isinstance(event, Finish):
        return event
    usage = event.usage
    return replace(event, usage=replace(usage, output=usage.output + usage.reasoning, reasoning=0))


@pytest.mark.parametrize("turn", [FULL, SPOKEN])
async def test_equals_the_openai_reader(turn: Turn) -> None:
    async with OpenAIServer([turn, turn]) as server:
        direct = await events(openai_chat.read, request(model(server.base_url)))
        through = await events(litellm_reader.read, request(through_litellm(server)))
        assert joined(through) == joined(direct)


@pytest.mark.parametrize(
    "turn", [replace(FULL, redacted="c2VhbGVk", usage=TokenUsage(10, 5, 3, 7, 2)), SPOKEN]
)
async def test_equals_the_anthropic_reader(turn: Turn) -> None:
    async with AnthropicServer([turn, turn]) as server:
        direct = await events(anthropic_messages.read, request(model(server.base_url, "anthropic")))
        through = await events(litellm_reader.read, request(through_litellm(server)))
        assert list(map(without_guess, joined(through))) == list(map(without_guess, joined(direct)))


async def test_sends_sealed_reasoning_and_results_back() -> None:
    told = ChatMessage(
        "assistant",
        [
            ReasoningContent("", {"redacted": "c2VhbGVk"}),
            ReasoningContent("Let me see.", {"signature": "c2lnbmVk"}),
            TextContent("I look."),
            ToolCallContent("call_a", "read", {"filePath": "a.py"}),
        ],
    )
    result = ChatMessage("tool", [ToolResultContent("call_a", "read", "x = 1")])
    thinking: dict[str, Any] = {"thinking": {"type": "enabled", "budgetTokens": 1024}}
    async with AnthropicServer([SPOKEN]) as server:
        asked = request(through_litellm(server), user("Hi"), told, result, **thinking)
        await events(litellm_reader.read, asked)
        sent = server.requests[0].body["messages"]
    kinds = [block["type"] for block in sent[1]["content"]]
    assert kinds == ["redacted_thinking", "thinking", "text", "tool_use"]
    assert sent[1]["content"][0]["data"] == "c2VhbGVk"
    assert sent[1]["content"][1]["signature"] == "c2lnbmVk"
    assert sent[2]["content"][0]["tool_use_id"] == "call_a"


@pytest.mark.parametrize("protocol", [OpenAIServer, AnthropicServer])
@pytest.mark.parametrize(
    ("fault", "kind", "retryable"),
    [
        (HttpError(429, "slow down", "rate_limit_error", {"retry-after": "7"}), ModelError, True),
        (HttpError(529, "Overloaded", "overloaded_error"), ModelError, True),
        (HttpError(400, "prompt is too long: 3 tokens > 2 maximum"), ContextOverflow, False),
        (HttpError(401, "bad key sk-loopback", "authentication_error"), AuthFailed, False),
        (HttpError(400, "no such thing", "invalid_request_error"), ModelError, False),
        (StreamError(1, "Overloaded", "overloaded_error"), ModelError, True),
        (Cut(1), ModelError, True),
        (Empty(), ModelError, True),
    ],
)
async def test_maps_errors(
    protocol: Callable[[list[Turn]], LoopbackServer],
    fault: HttpError,
    kind: type[ModelError],
    retryable: bool,
) -> None:
    async with protocol([Turn(text=["a", "b"], fault=fault)]) as server:
        with pytest.raises(ModelError) as raised:
            await events(litellm_reader.read, request(through_litellm(server)))
        assert len(server.requests) == 1
    error = raised.value
    assert type(error) is kind
    assert error.retryable == retryable
    if isinstance(fault, HttpError):
        assert error.message == fault.message.replace("sk-loopback", "***")
        assert error.headers.items() >= (fault.headers or {}).items()


async def test_closes_the_connection_when_left() -> None:
    waiting = Turn(text=["a", Wait("never"), "b"])
    async with OpenAIServer([waiting, waiting]) as server:
        asked = request(through_litellm(server))
        async with aclosing(litellm_reader.read(asked)) as stream:
            assert await anext(stream) == TextDelta("a")
        await server.wait_for_disconnect(1)
        reading = asyncio.create_task(events(litellm_reader.read, asked))
        await server.wait_for_request(2)
        reading.cancel()
        await server.wait_for_disconnect(2)
        with pytest.raises(asyncio.CancelledError):
            await reading


async def test_says_nothing_itself(capfd: pytest.CaptureFixture[str]) -> None:
    async with OpenAIServer([Turn(text="a"), Turn(fault=HttpError(500))]) as server:
        first = await events(litellm_reader.read, request(through_litellm(server)))
        assert first == [TextDelta("a"), Finish("stop", Usage(10, 5))]
        with pytest.raises(ModelError):
            await events(litellm_reader.read, request(through_litellm(server)))
    assert capfd.readouterr() == ("", "")
