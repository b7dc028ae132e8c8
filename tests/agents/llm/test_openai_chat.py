"""The chat-completions reader: bytes cut anywhere, servers that differ, and what goes back to them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from contextlib import aclosing
from dataclasses import replace
from typing import Any

import pytest

from agents.llm.readers import openai_chat
from agents.llm.readers.decoding import parse
from agents.llm.readers.openai_chat import ChatDecoder
from agents.llm.types import (
    AuthFailed,
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
from sessions.core.sse import Decoder
from tests.agents.llm.asking import events, joined, model, request, user
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Cut, Empty, HttpError, StreamError, TokenUsage, ToolUse, Turn, Wait

STREAM = (
    b"\xef\xbb\xbf: a comment\r\n\r\n"
    b'event: message\r\nid: 1\r\ndata: {"choices":[{"delta":\r\n'
    b'data: {"content":"Gr\xc3\xbc\xc3\x9fe \xf0\x9f\x8c\x8d"}}]}\r\n\r\n'
    b': keep-alive\n\ndata:{"choices":[{"delta":{"content":" a\xe2\x80\xa8b"}}]}\n\n'
    b'data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3}}\r\r'
    b"data: [DONE]"
)


def decoded(chunks: Iterable[dict[str, Any]]) -> list[ModelEvent]:
    decoder = ChatDecoder([])
    given = [event for chunk in chunks for event in decoder.feed(chunk)]
    return joined([*given, *decoder.finish()])


def calls(*deltas: dict[str, Any]) -> list[ToolCall]:
    """The calls of a stream with these entries of `tool_calls`, one in each chunk."""
    chunks = [{"choices": [{"delta": {"tool_calls": [delta]}}]} for delta in deltas]
    given = decoded([*chunks, {"choices": [{"delta": {}, "finish_reason": "stop"}]}])
    assert isinstance(given[-1], Finish)
    assert given[-1].reason == "tool-calls"
    return [event for event in given if isinstance(event, ToolCall)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, len(STREAM)])
def test_bytes_may_be_cut_anywhere(size: int) -> None:
    decoder = Decoder()
    pieces = [STREAM[start : start + size] for start in range(0, len(STREAM), size)]
    payloads = [data for piece in pieces for data in decoder.feed(piece)] + decoder.end()
    assert payloads.pop() == "[DONE]"
    given = decoded(parse(payload, model()) for payload in payloads)
    assert given == [TextDelta("Grüße 🌍 a\u2028b"), Finish("stop", Usage(3))]


def test_every_single_cut_gives_the_same_events() -> None:
    whole = Decoder()
    expected = whole.feed(STREAM) + whole.end()
    assert len(expected) == 4
    for cut in range(len(STREAM)):
        decoder = Decoder()
        assert decoder.feed(STREAM[:cut]) + decoder.feed(STREAM[cut:]) + decoder.end() == expected


async def test_a_whole_turn() -> None:
    turn = Turn(
        reasoning=["Let me ", "see."],
        text=["Grüße, ", "wörld"],
        tools=[ToolUse("read", {"filePath": "a.py"}, "call_a"), ToolUse("list", "{broken", "call_b")],
        usage=TokenUsage(input=10, output=5, reasoning=3, cache_read=7),
    )
    async with OpenAIServer([turn]) as server:
        given = await events(openai_chat.read, request(model(server.base_url, api_key="k-1")))
        seen = server.requests[0]
    assert joined(given) == [
        ReasoningDelta("Let me see."),
        ReasoningEnd({"field": "reasoning_content"}),
        TextDelta("Grüße, wörld"),
        ToolInputStart("call_a", "read"),
        ToolInputDelta("call_a", '{"filePath": "a.py"}'),
        ToolInputStart("call_b", "list"),
        ToolInputDelta("call_b", "{broken"),
        ToolCall("call_a", "read", {"filePath": "a.py"}, '{"filePath": "a.py"}'),
        ToolCall("call_b", "list", None, "{broken"),
        Finish("tool-calls", Usage(10, 5, 3, 7)),
    ]
    assert seen.headers["authorization"] == "Bearer k-1"
    assert [tool["function"]["name"] for tool in seen.body["tools"]] == ["read", "list"]


def test_servers_that_number_calls_in_their_own_ways() -> None:
    one, two = {"name": "read", "arguments": '{"a":1}'}, {"name": "list", "arguments": {"b": 2}}
    same_index = calls({"index": 0, "id": "x", "function": one}, {"index": 0, "id": "y", "function": two})
    no_index = calls({"id": "x", "function": one}, {"id": "y", "function": two})
    for given in (same_index, no_index):
        assert [(call.call_id, call.name, call.input) for call in given] == [
            ("x", "read", {"a": 1}),
            ("y", "list", {"b": 2}),
        ]
    repeated = calls(
        {"index": 0, "id": "x", "function": {"name": "read", "arguments": '{"a"'}},
        {"index": 0, "id": "x", "function": {"name": "read", "arguments": ":1}"}},
    )
    assert [(call.name, call.input) for call in repeated] == [("read", {"a": 1})]
    nameless = calls({"index": 0, "function": {"name": "list"}}, {"index": 1, "function": one})
    assert [(call.name, call.input) for call in nameless] == [("list", {}), ("read", {"a": 1})]
    assert len({call.call_id for call in nameless} - {""}) == 2


@pytest.mark.parametrize(
    ("fault", "kind", "retryable"),
    [
        (HttpError(429, "slow down", headers={"retry-after": "7"}), ModelError, True),
        (HttpError(400, "maximum context length is 8 tokens"), ContextOverflow, False),
        (HttpError(401, "bad key"), AuthFailed, False),
        (HttpError(200, body='{"error": {"message": "prompt is too long"}}'), ContextOverflow, False),
        (
            HttpError(200, body="<html>a proxy</html>", headers={"content-type": "text/html"}),
            ModelError,
            False,
        ),
        (StreamError(1, "Overloaded", "overloaded_error"), ModelError, True),
        (Cut(1), ModelError, True),
        (Empty(), ModelError, True),
    ],
)
async def test_faults(
    fault: HttpError | StreamError | Cut | Empty, kind: type[ModelError], retryable: bool
) -> None:
    turn = Turn(text=["a", "b"], tools=[ToolUse("list", {})], fault=fault)
    given: list[ModelEvent] = []
    async with OpenAIServer([turn]) as server:
        with pytest.raises(ModelError) as raised:
            async with aclosing(openai_chat.read(request(model(server.base_url)))) as stream:
                async for event in stream:
                    given.append(event)
    assert (type(raised.value), raised.value.retryable) == (kind, retryable)
    assert not any(isinstance(event, ToolCall | Finish) for event in given)


async def test_silence_and_absence_are_told_apart() -> None:
    async with OpenAIServer([Turn(gate="never"), Turn(text=["a", Wait("never")])]) as server:
        asked = request(model(server.base_url, timeout=0.05, chunk_timeout=0.05))
        with pytest.raises(ModelError, match=r"did not begin to answer within 0\.05 s"):
            await events(openai_chat.read, asked)
        with pytest.raises(ModelError, match=r"sent nothing for 0\.05 s"):
            await events(openai_chat.read, request(model(server.base_url, chunk_timeout=0.05)))
        gone = server.base_url
    with pytest.raises(ModelError, match="Could not connect") as raised:
        await events(openai_chat.read, request(model(gone)))
    assert raised.value.retryable


async def test_leaving_closes_the_connection() -> None:
    waiting = Turn(text=["a", Wait("never"), "b"])
    async with OpenAIServer([waiting, waiting]) as server:
        asked = request(model(server.base_url))
        async with aclosing(openai_chat.read(asked)) as stream:
            assert await anext(stream) == TextDelta("a")
        await server.wait_for_disconnect(1)
        reading = asyncio.create_task(events(openai_chat.read, asked))
        await server.wait_for_request(2)
        reading.cancel()
        await server.wait_for_disconnect(2)
        with pytest.raises(asyncio.CancelledError):
            await reading


async def test_reasoning_of_which_no_field_is_known_goes_back_where_the_configuration_says() -> None:
    imported = ChatMessage("assistant", [ReasoningContent("hm"), TextContent("Done.")])
    async with OpenAIServer([Turn(text="ok")] * 3) as server:
        for field in ("reasoning_content", "reasoning_details", ""):
            asked = replace(model(server.base_url), interleaved=field)
            await events(openai_chat.read, request(asked, user("Hi"), imported, user("Go on")))
        said = [
            next(m for m in seen.body["messages"] if m["role"] == "assistant") for seen in server.requests
        ]
    plain = {"role": "assistant", "content": "Done."}
    assert said == [{**plain, "reasoning_content": "hm"}, plain, plain]


async def test_history_goes_back_in_the_servers_words() -> None:
    told = ChatMessage(
        "assistant",
        [
            ReasoningContent("hm", {"field": "reasoning_content"}),
            ReasoningContent("sealed", {"signature": "s"}),
            TextContent("I look."),
            ToolCallContent("call_a", "read", {"filePath": "ä"}),
        ],
    )
    picture = FileContent("image/png", "AAAA", "a.png")
    result = ChatMessage("tool", [ToolResultContent("call_a", "read", "seen", attachments=[picture])])
    async with OpenAIServer([Turn(text="ok")] * 2) as server:
        sees = model(server.base_url, attachment=True, options={"reasoningEffort": "low", "max_tokens": None})
        await events(openai_chat.read, request(sees, user("Hi"), told, result, user("Go on")))
        await events(openai_chat.read, request(model(server.base_url), user("Hi", picture)))
        body, blind = (seen.body for seen in server.requests)
    arguments = json.dumps({"filePath": "ä"}, ensure_ascii=False)
    function = {"name": "read", "arguments": arguments}
    assert body["messages"][2:5] == [
        {
            "role": "assistant",
            "content": "I look.",
            "reasoning_content": "hm",
            "tool_calls": [{"id": "call_a", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": "seen"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Files from the call call_a of read:"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
            ],
        },
    ]
    assert body["reasoning_effort"] == "low"
    assert "max_tokens" not in body
    assert "a.png left out" in blind["messages"][1]["content"]
