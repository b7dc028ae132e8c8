from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Cut, Empty, HttpError, Script, StreamError, TokenUsage, ToolUse, Turn, Wait

TOOLS: Any = [{"type": "function", "function": {"name": "read", "parameters": {"type": "object"}}}]


async def ask(server: OpenAIServer, prompt: str = "hello") -> list[ChatCompletionChunk]:
    """Every chunk of one answer, read by OpenAI's own client."""
    async with AsyncOpenAI(base_url=server.base_url, api_key="key", max_retries=0) as client:
        stream = await client.chat.completions.create(
            model="fake",
            messages=[{"role": "user", "content": prompt}],
            tools=TOOLS,
            stream=True,
            stream_options={"include_usage": True},
        )
        return [chunk async for chunk in stream]


def text_of(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


async def test_text_reasoning_and_usage() -> None:
    usage = TokenUsage(input=100, output=7, reasoning=3, cache_read=40)
    async with OpenAIServer([Turn(text=["Hel", "lo"], reasoning="hm", usage=usage)]) as server:
        chunks = await ask(server)
    assert text_of(chunks) == "Hello"
    thoughts = [getattr(chunk.choices[0].delta, "reasoning_content", None) for chunk in chunks[:-1]]
    assert [thought for thought in thoughts if thought] == ["hm"]
    assert chunks[-2].choices[0].finish_reason == "stop"
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.prompt_tokens == 140
    assert chunks[-1].usage.completion_tokens == 10
    assert chunks[-1].usage.prompt_tokens_details is not None
    assert chunks[-1].usage.prompt_tokens_details.cached_tokens == 40


async def test_tool_calls_come_in_parts_with_ids_and_malformed_arguments_as_they_stand() -> None:
    turn = Turn(tools=[ToolUse("read", {"filePath": "a.py"}), ToolUse("bash", '{"command": ', id="mine")])
    async with OpenAIServer([turn]) as server:
        chunks = await ask(server)
    calls: dict[int, dict[str, str]] = {}
    for chunk in chunks[:-1]:
        for part in chunk.choices[0].delta.tool_calls or ():
            call = calls.setdefault(part.index, {"id": part.id or "", "arguments": ""})
            assert part.function is not None
            call["name"] = part.function.name or call["name"]
            call["arguments"] += part.function.arguments or ""
    assert calls[0] == {"id": "call_1", "name": "read", "arguments": '{"filePath": "a.py"}'}
    assert calls[1] == {"id": "mine", "name": "bash", "arguments": '{"command": '}
    assert chunks[-2].choices[0].finish_reason == "tool_calls"


async def test_http_error_carries_its_headers() -> None:
    fault = HttpError(429, "slow down", headers={"retry-after-ms": "25"})
    async with OpenAIServer([Turn(fault=fault)]) as server:
        with pytest.raises(openai.RateLimitError, match="slow down") as caught:
            await ask(server)
    assert caught.value.response.headers["retry-after-ms"] == "25"


@pytest.mark.parametrize(
    ("fault", "raised"),
    [
        (StreamError(after=1, message="upstream broke"), openai.APIError),
        (Cut(after=1), httpx.RemoteProtocolError),
    ],
)
async def test_faults_in_mid_stream(fault: StreamError | Cut, raised: type[Exception]) -> None:
    async with (
        OpenAIServer([Turn(text=["one", "two"], fault=fault)]) as server,
        AsyncOpenAI(base_url=server.base_url, api_key="key", max_retries=0) as client,
    ):
        stream = await client.chat.completions.create(
            model="fake", messages=[{"role": "user", "content": "x"}], stream=True
        )
        assert [(await anext(stream)).choices[0].delta.content for _ in range(2)] == ["", "one"]
        with pytest.raises(raised):
            await anext(stream)


async def test_empty_stream_has_no_event() -> None:
    async with OpenAIServer([Turn(text="never", fault=Empty())]) as server:
        assert await ask(server) == []


async def test_the_test_decides_when_the_stream_goes_on() -> None:
    async with OpenAIServer([Turn(text=["a", Wait("go"), "b"])]) as server:
        answer = asyncio.create_task(ask(server))
        await server.gate("go").reached()
        assert not answer.done()
        server.gate("go").open()
        assert text_of(await answer) == "ab"


async def test_a_dropped_stream_is_noticed_even_at_a_gate() -> None:
    async with OpenAIServer([Turn(text=["a", Wait("never")])]) as server:
        answer = asyncio.create_task(ask(server))
        await server.gate("never").reached()
        answer.cancel()
        await server.wait_for_disconnect()
    assert server.requests[0].disconnected


async def test_titles_are_answered_apart_from_the_script_and_recorded_apart() -> None:
    async with (
        OpenAIServer([Turn(text="main")], title="My title") as server,
        AsyncOpenAI(base_url=server.base_url, api_key="key") as client,
    ):
        title = await client.chat.completions.create(
            model="fake",
            messages=[{"role": "system", "content": "You write titles."}, {"role": "user", "content": "hi"}],
            stream=True,
        )
        assert text_of([chunk async for chunk in title]) == "My title"
        assert text_of(await ask(server)) == "main"
        request = await server.wait_for_request(1)
    assert request.body["messages"][0]["content"] == "hello"
    assert request.headers["authorization"] == "Bearer key"
    assert len(server.requests) == len(server.titles) == 1


def by_prompt(body: object) -> Turn:
    assert isinstance(body, dict)
    return Turn(text=f"you said {body['messages'][-1]['content']}")


@pytest.mark.parametrize("script", [by_prompt, [Turn(text="you said hi")]])
async def test_a_script_is_a_list_or_a_function(script: Script) -> None:
    async with OpenAIServer(script) as server:
        assert text_of(await ask(server, "hi")) == "you said hi"


async def test_an_exhausted_script_says_so() -> None:
    async with OpenAIServer([]) as server:
        with pytest.raises(openai.BadRequestError, match="no turn left"):
            await ask(server)


async def test_stamps_are_the_time_of_sending() -> None:
    async with OpenAIServer([Turn(text=["x", "x"], stamp=True)]) as server:
        first, second = (int(stamp) for stamp in text_of(await ask(server)).split())
        assert server.requests[0].received_ns <= first <= second


async def test_models_unknown_paths_and_bad_bodies() -> None:
    async with OpenAIServer([]) as server, httpx.AsyncClient(base_url=server.base_url) as client:
        assert (await client.get("/models")).json()["data"][0]["id"] == "fake"
        assert (await client.get("/nothing")).status_code == 404
        assert (await client.post("/chat/completions", content=b"[1]")).status_code == 400
        streamed = await client.post("/chat/completions", json={"messages": []})
    assert json.loads(streamed.content)["error"]["type"] == "script_exhausted"
