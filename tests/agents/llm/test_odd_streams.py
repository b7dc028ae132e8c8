"""Answers of a shape that their protocol does not know."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from agents.llm import stream
from agents.llm.types import ModelError, TextDelta, Usage
from tests.agents.llm.asking import Protocol, events, model, request
from tests.agents.llm.replay import replaying, sse
from tests.loopback.wire import read_request

BEGUN = {"type": "message_start", "message": {"usage": {"input_tokens": 10, "service_tier": "standard"}}}
PARTS = [{"type": "text", "text": "So"}, {"type": "text", "text": "."}]


def delta(of: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": of}


@pytest.mark.parametrize(
    ("protocol", "event"),
    [
        ("anthropic", delta("text")),
        ("anthropic", delta({"type": "text_delta"})),
        ("anthropic", {"type": "content_block_start", "content_block": ["text"]}),
        ("anthropic", {"type": "content_block_start", "content_block": {"type": "tool_use"}}),
        ("anthropic", {"type": "message_delta", "delta": [1], "usage": 3}),
        ("anthropic", {"type": "message_start", "message": "hello"}),
        ("responses", {"type": ["response.completed"]}),
        ("responses", {"type": "response.output_item.done", "item": ["message"]}),
        ("responses", {"type": "response.completed", "response": {"usage": {"input_tokens": "many"}}}),
        ("openai", {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}], "error": [1, None]}),
    ],
)
async def test_an_odd_event_is_an_error_of_the_model(protocol: Protocol, event: dict[str, Any]) -> None:
    async with replaying(sse(BEGUN, event)) as server:
        with pytest.raises(ModelError) as caught:
            await events(stream, request(model(server.base_url, protocol)))
    if protocol != "openai":
        assert caught.value.message.startswith("fake/m sent what its protocol does not know")


@pytest.mark.parametrize(
    ("protocol", "given"),
    [
        (
            "anthropic",
            [
                BEGUN,
                {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
                delta({"type": "text_delta", "text": PARTS}),
                {"type": "message_stop"},
            ],
        ),
        (
            "responses",
            [
                {"type": "response.output_text.delta", "delta": PARTS},
                {"type": "response.completed", "response": {}},
            ],
        ),
        (
            "openai",
            [
                {"choices": [None, {"delta": {"content": PARTS}}]},
                {"choices": [{"delta": {"content": PARTS}}]},
                "[DONE]",
            ],
        ),
    ],
)
async def test_text_is_taken_out_of_lists(protocol: Protocol, given: list[Any]) -> None:
    async with replaying(sse(*given)) as server:
        found = await events(stream, request(model(server.base_url, protocol)))
    assert "".join(event.text for event in found if isinstance(event, TextDelta)) == "So."


async def test_an_answer_that_breaks_off_says_what_was_counted() -> None:
    async with replaying(sse(BEGUN)) as server:
        with pytest.raises(ModelError, match="cut before its end") as caught:
            await events(stream, request(model(server.base_url, "anthropic")))
    assert caught.value.usage == Usage(input=10)


async def test_what_came_before_the_connection_broke_is_read() -> None:
    """Also where it was not read yet when it broke."""
    go, gone = asyncio.Event(), asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        for text in ("First. ", "Second."):
            data = sse({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]})
            writer.write(b"%x\r\n%s\r\n" % (len(data), data))
            await writer.drain()
            await go.wait()
        writer.close()
        gone.set()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        async with aclosing(stream(request(model(url)))) as answered:
            assert await anext(answered) == TextDelta("First. ")
            go.set()
            await gone.wait()
            for _ in range(10):  # until the end has come here, too
                await asyncio.sleep(0)
            assert await anext(answered) == TextDelta("Second.")
            with pytest.raises(ModelError, match="broke"):
                await anext(answered)
