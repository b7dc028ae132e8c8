from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.loopback.anthropic import AnthropicServer
from tests.loopback.script import HttpError, StreamError, TokenUsage, ToolUse, Turn

BODY: dict[str, Any] = {
    "model": "fake",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "hello"}],
    "tools": [{"name": "read", "input_schema": {"type": "object"}}],
    "stream": True,
}


async def events(server: AnthropicServer) -> list[dict[str, Any]]:
    """The data of every event; each event's name has to be the type in its data."""
    async with httpx.AsyncClient() as client:
        answer = await client.post(f"{server.base_url}/messages", json=BODY, headers={"x-api-key": "key"})
    found = []
    for frame in answer.text.split("\n\n")[:-1]:
        name, data = frame.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


async def test_blocks_open_and_close_in_order() -> None:
    turn = Turn(
        redacted="gone",
        reasoning=["h", "m"],
        signature="signed",
        text="yes",
        tools=[ToolUse("read", {"filePath": "a"}), ToolUse("read", {"filePath": "b"})],
        usage=TokenUsage(input=9, output=4, cache_read=5, cache_write=6),
    )
    async with AnthropicServer([turn]) as server:
        found = await events(server)
    blocks = [event["content_block"]["type"] for event in found if event["type"] == "content_block_start"]
    assert blocks == ["redacted_thinking", "thinking", "text", "tool_use", "tool_use"]
    edges = [
        (event["type"], event["index"])
        for event in found
        if event["type"] in ("content_block_start", "content_block_stop")
    ]
    assert edges == [(f"content_block_{edge}", index) for index in range(5) for edge in ("start", "stop")]
    assert found[0]["message"]["usage"]["cache_creation_input_tokens"] == 6
    assert found[-2]["delta"]["stop_reason"] == "tool_use"
    assert found[-2]["usage"]["output_tokens"] == 4
    assert found[-1]["type"] == "message_stop"


async def test_error_in_mid_stream_is_an_error_event() -> None:
    fault = StreamError(after=1, type="overloaded_error", message="Overloaded")
    async with AnthropicServer([Turn(text=["a", "b"], fault=fault)]) as server:
        last = (await events(server))[-1]
    assert last == {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


async def test_http_error_is_in_the_protocols_shape() -> None:
    turn = Turn(fault=HttpError(529, "Overloaded", "overloaded_error"))
    async with AnthropicServer([turn]) as server, httpx.AsyncClient() as client:
        answer = await client.post(f"{server.base_url}/messages", json=BODY)
    assert answer.status_code == 529
    assert answer.json()["error"]["type"] == "overloaded_error"


@pytest.mark.litellm
async def test_litellm_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that nobody here wrote."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    monkeypatch.setenv("LITELLM_MODE", "PRODUCTION")
    import litellm

    turn = Turn(reasoning="hm", signature="signed", text=["Hel", "lo"], tools=[ToolUse("read", {"f": "é"})])
    async with AnthropicServer([turn]) as server:
        stream = await litellm.acompletion(
            model="anthropic/claude-3-7-sonnet-20250219",
            api_base=server.url,
            api_key="key",
            messages=BODY["messages"],
            tools=[{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}],
            stream=True,
        )
        whole: Any = litellm.stream_chunk_builder([chunk async for chunk in stream])
    message = whole.choices[0].message
    assert message.content == "Hello"
    assert message.reasoning_content == "hm"
    assert message.thinking_blocks[0]["signature"] == "signed"
    assert json.loads(message.tool_calls[0].function.arguments) == {"f": "é"}
    assert server.requests[0].headers["x-api-key"] == "key"
