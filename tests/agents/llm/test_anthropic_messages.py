"""The direct reader of Anthropic messages on recorded streams."""

from __future__ import annotations

from typing import Any

import pytest

from agents.llm import stream
from agents.llm.types import (
    ChatMessage,
    ContextOverflow,
    FileContent,
    Finish,
    ModelError,
    ModelEvent,
    ReasoningContent,
    ReasoningDelta,
    ReasoningEnd,
    TextContent,
    TextDelta,
    ToolCall,
    ToolCallContent,
    ToolInputDelta,
    ToolInputStart,
    ToolResultContent,
    Usage,
)
from tests.agents.llm.asking import events, joined, model, request, user
from tests.agents.llm.replay import replaying, sse

START = {
    "type": "message_start",
    "message": {
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 70,
            "cache_creation_input_tokens": 20,
            "output_tokens": 1,
        }
    },
}
STOP = {"type": "message_stop"}
THINKING = {"thinking": {"type": "enabled", "budgetTokens": 4000}}


def block(index: int, start: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def end(reason: str) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 42}}


def text(said: str) -> list[dict[str, Any]]:
    return block(0, {"type": "text", "text": ""}, {"type": "text_delta", "text": said})


async def read(recorded: bytes, **given: Any) -> list[ModelEvent]:
    async with replaying(recorded, **given) as server:
        return joined(await events(stream, request(model(server.base_url, "anthropic"))))


async def test_thinking_text_calls_and_usage() -> None:
    recorded = sse(
        START,
        {"type": "ping"},
        *block(0, {"type": "redacted_thinking", "data": "c2VhbA=="}),
        *block(
            1,
            {"type": "thinking", "thinking": "", "signature": ""},
            {"type": "thinking_delta", "thinking": "Let me "},
            {"type": "thinking_delta", "thinking": "see."},
            {"type": "signature_delta", "signature": "c2ln"},
        ),
        *text("Grüße 🌍"),
        *block(
            3,
            {"type": "tool_use", "id": "t1", "name": "read", "input": {}},
            {"type": "input_json_delta", "partial_json": ""},
            {"type": "input_json_delta", "partial_json": '{"filePath": '},
            {"type": "input_json_delta", "partial_json": '"a.py"}'},
        ),
        *block(4, {"type": "tool_use", "id": "t2", "name": "list", "input": {}}),
        *block(
            5,
            {"type": "tool_use", "id": "t3", "name": "list", "input": {}},
            {"type": "input_json_delta", "partial_json": '{"path": "'},
        ),
        {"type": "something_new", "index": 9},
        end("tool_use"),
        STOP,
    )
    async with replaying(*(recorded[n : n + 11] for n in range(0, len(recorded), 11))) as server:
        got = joined(await events(stream, request(model(server.base_url, "anthropic"))))
    assert got == [
        ReasoningEnd({"redacted": "c2VhbA=="}),
        ReasoningDelta("Let me see."),
        ReasoningEnd({"signature": "c2ln"}),
        TextDelta("Grüße 🌍"),
        ToolInputStart("t1", "read"),
        ToolInputDelta("t1", '{"filePath": "a.py"}'),
        ToolInputStart("t2", "list"),
        ToolInputStart("t3", "list"),
        ToolInputDelta("t3", '{"path": "'),
        ToolCall("t1", "read", {"filePath": "a.py"}, '{"filePath": "a.py"}'),
        ToolCall("t2", "list", {}, ""),
        ToolCall("t3", "list", None, '{"path": "'),
        Finish("tool-calls", Usage(input=10, output=42, cache_read=70, cache_write=20)),
    ]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "length"),
        ("refusal", "content-filter"),
        ("pause_turn", "tool-calls"),
    ],
)
async def test_finish_reasons(given: str, reason: str) -> None:
    got = await read(sse(*text("a"), end(given), STOP))
    assert got == [TextDelta("a"), Finish(reason, Usage(output=42))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("recorded", "kind", "status", "retryable"),
    [
        (
            sse(
                START,
                *text("a"),
                {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
            ),
            ModelError,
            529,
            True,
        ),
        (
            sse(
                {
                    "type": "error",
                    "error": {"type": "invalid_request_error", "message": "prompt is too long: 3 > 2"},
                }
            ),
            ContextOverflow,
            400,
            False,
        ),
        (sse(START, *text("a")), ModelError, None, True),
    ],
)
async def test_what_breaks_inside_a_stream(
    recorded: bytes, kind: type[ModelError], status: int | None, retryable: bool
) -> None:
    with pytest.raises(ModelError) as raised:
        await read(recorded)
    assert (type(raised.value), raised.value.status, raised.value.retryable) == (kind, status, retryable)


async def sent_by(
    *conversation: ChatMessage, asked: dict[str, Any], **given: Any
) -> tuple[dict[str, str], Any]:
    async with replaying(sse(START, end("end_turn"), STOP)) as server:
        target = model(server.base_url, "anthropic", api_key="sk-ant", attachment=True, **asked)
        await events(stream, request(target, *conversation, **given))
    return server.sent_headers, server.sent


CONVERSATION = [
    user("Hi"),
    ChatMessage(
        "assistant",
        [
            ReasoningContent("Let me see.", {"signature": "c2ln"}),
            ReasoningContent("", {"redacted": "c2VhbA=="}),
            ReasoningContent("Not ours.", {"field": "reasoning"}),
            TextContent(" "),
            ToolCallContent("t1", "read", {"filePath": "a.png"}),
            ToolCallContent("t2", "list", {}),
        ],
    ),
    ChatMessage(
        "tool", [ToolResultContent("t1", "read", "shot", attachments=[FileContent("image/png", "eA==")])]
    ),
    ChatMessage("tool", [ToolResultContent("t2", "list", "gone", is_error=True)]),
    user("And this?", FileContent("application/pdf", "cGRm")),
]


async def test_the_request_with_thinking() -> None:
    headers, sent = await sent_by(*CONVERSATION, asked={"output": 8000, "options": THINKING}, temperature=0.3)
    assert headers["x-api-key"] == "sk-ant"
    assert headers["anthropic-version"] == "2023-06-01"
    assert headers["anthropic-beta"] == "interleaved-thinking-2025-05-14"
    assert sent["thinking"] == {"type": "enabled", "budget_tokens": 4000}
    assert sent["max_tokens"] > 4000
    assert "temperature" not in sent
    _, said, results = sent["messages"]
    assert [part["type"] for part in said["content"]] == [
        "thinking",
        "redacted_thinking",
        "tool_use",
        "tool_use",
    ]
    assert said["content"][0] == {"type": "thinking", "thinking": "Let me see.", "signature": "c2ln"}
    first, second, words, pdf = results["content"]
    assert [part["type"] for part in first["content"]] == ["text", "image"]
    assert (second["tool_use_id"], second["content"], second["is_error"]) == ("t2", "gone", True)
    assert (words["text"], pdf["type"]) == ("And this?", "document")


async def test_the_cache_marks() -> None:
    _, sent = await sent_by(
        *CONVERSATION, ChatMessage("assistant", [TextContent("Yes.")]), user("So"), asked={}
    )
    marked = [part for message in sent["messages"] for part in message["content"] if "cache_control" in part]
    assert marked == [sent["messages"][2]["content"][-1], sent["messages"][4]["content"][-1]]
    assert [part["text"] for part in sent["system"] if part.get("cache_control")] == ["Be brief."]


async def test_without_thinking_and_tools() -> None:
    headers, sent = await sent_by(
        *CONVERSATION, asked={"headers": {"X-Extra": "1"}}, temperature=0.3, tools=()
    )
    assert "anthropic-beta" not in headers
    assert headers["x-extra"] == "1"
    assert sent["temperature"] == 0.3
    assert {part["type"] for part in sent["messages"][1]["content"]} == {"tool_use"}
    assert [tool["name"] for tool in sent["tools"]] == ["read", "list"]
    assert sent["tool_choice"] == {"type": "none"}
