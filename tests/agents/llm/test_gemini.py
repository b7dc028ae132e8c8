"""Gemini through litellm: its thoughts, signatures, searches and counts, and what it is asked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents.agent.steps.trouble import delay
from agents.llm import stream
from agents.llm.readers.openai_body import build
from agents.llm.types import (
    ChatMessage,
    Finish,
    Model,
    ModelError,
    ModelEvent,
    ProviderCall,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallContent,
    ToolResultContent,
    Usage,
)
from tests.agents.llm.asking import events, joined, model, request, user
from tests.agents.llm.replay import Replay, replaying, sse

pytestmark = pytest.mark.litellm

COUNTED = {
    "promptTokenCount": 10,
    "candidatesTokenCount": 5,
    "thoughtsTokenCount": 7,
    "cachedContentTokenCount": 3,
    "totalTokenCount": 22,
}


def chunk(*parts: dict[str, Any], **given: Any) -> dict[str, Any]:
    candidate = {"index": 0, "content": {"role": "model", "parts": list(parts)}, **given}
    return {"candidates": [candidate], "usageMetadata": COUNTED, "modelVersion": "gemini-3-pro"}


def gemini(server: Replay, **given: Any) -> Model:
    known: dict[str, Any] = {"api_model": "gemini/gemini-2.5-pro", "api_key": "k", "reasoning": True}
    return model(server.base_url, "litellm", **{**known, **given})


async def read(*chunks: dict[str, Any]) -> list[ModelEvent]:
    async with replaying(sse(*chunks)) as server:
        return joined(await events(stream, request(gemini(server))))


CALLS = (
    chunk({"text": "Hm.", "thought": True}),
    chunk({"text": "Yes."}),
    chunk({"functionCall": {"name": "read", "args": {"filePath": "a"}}, "thoughtSignature": "U0lH"}),
    chunk({"functionCall": {"name": "read", "args": {"filePath": "b"}}}, finishReason="STOP"),
)


async def test_a_signature_goes_back_with_its_call_and_not_in_its_id() -> None:
    async with replaying(sse(*CALLS)) as server:
        asked = gemini(server)
        given = joined(await events(stream, request(asked)))
        calls = [event for event in given if isinstance(event, ToolCall)]
        assert all(len(call.call_id) <= 40 for call in calls)
        said = [ToolCallContent(call.call_id, call.name, call.input or {}, call.metadata) for call in calls]
        told = [ToolResultContent(call.call_id, call.name, "ok") for call in calls]
        history = [user("Hi"), ChatMessage("assistant", said), ChatMessage("tool", told)]
        await events(stream, request(asked, *history))
        first, second = server.sent["contents"][1]["parts"]
    assert given[:3] == [ReasoningDelta("Hm."), *given[1:2], TextDelta("Yes.")]
    assert given[-1] == Finish("tool-calls", Usage(7, 5, 7, 3, 0))
    assert (first["thoughtSignature"], "thoughtSignature" in second) == ("U0lH", False)


async def test_what_it_searched_for_is_shown_as_its_call() -> None:
    found = {
        "webSearchQueries": ["frobs"],
        "groundingChunks": [{"web": {"uri": "https://a.example/1", "title": "A"}}],
    }
    given = await read(
        chunk({"text": "So"}), chunk({"text": "."}, finishReason="STOP", groundingMetadata=found)
    )
    searched = next(event for event in given if isinstance(event, ProviderCall))
    assert (searched.name, searched.input) == ("web_search", {"queries": ["frobs"]})
    assert searched.output == "A: https://a.example/1"
    assert isinstance(given[-1], Finish)


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({}, {"includeThoughts": True}),
        ({"thinkingConfig": {"thinkingBudget": 900}}, {"includeThoughts": True, "thinkingBudget": 900}),
        ({"thinkingConfig": {"includeThoughts": False}}, {"includeThoughts": False}),
        ({"reasoningEffort": "low"}, {"includeThoughts": True, "thinkingBudget": 1024}),
    ],
)
async def test_its_thoughts_are_asked_for(options: dict[str, Any], sent: dict[str, Any]) -> None:
    async with replaying(sse(chunk({"text": "Yes."}, finishReason="STOP"))) as server:
        await events(stream, request(gemini(server, options=options)))
    assert server.sent["generationConfig"]["thinkingConfig"] == sent


async def test_a_model_that_does_not_reason_is_asked_for_no_thoughts() -> None:
    async with replaying(sse(chunk({"text": "Yes."}, finishReason="STOP"))) as server:
        await events(stream, request(gemini(server, reasoning=False)))
    assert "thinkingConfig" not in server.sent["generationConfig"]


def test_a_signature_of_the_compatible_interface_goes_back() -> None:
    beside = {"extra_content": {"google": {"thought_signature": "U0lH"}}}
    said = ChatMessage("assistant", [ToolCallContent("c", "read", {}, beside)])
    sent = build(request(model(), said))["messages"][-1]["tool_calls"][0]
    assert sent["extra_content"] == beside["extra_content"]


async def test_a_limit_per_minute_is_waited_for() -> None:
    error = {
        "code": 429,
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "27s"}],
    }
    body = json.dumps({"error": error}, indent=2).encode()
    async with replaying(body, status=429, headers={"content-type": "application/json"}) as server:
        with pytest.raises(ModelError, match="exceeded your current quota") as caught:
            await events(stream, request(gemini(server)))
    assert caught.value.retryable
    assert delay(caught.value, 1, 0) == 27
