"""Chat completions as servers other than OpenAI's send them, on recorded bytes."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from agents.llm import aclose, stream
from agents.llm.types import AuthFailed, Finish, ModelError, ModelEvent, TextDelta, ToolCall, Usage
from tests.agents.llm.asking import events, joined, model, request
from tests.agents.llm.replay import replaying, sse

DONE = "[DONE]"


def delta(finish: str | None = None, **given: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": given, "finish_reason": finish}]}


def call(**given: Any) -> dict[str, Any]:
    function = {key: given.pop(key) for key in ("name", "arguments") if key in given}
    return delta(tool_calls=[{**given, "function": function}])


async def read(*pieces: bytes) -> list[ModelEvent]:
    async with replaying(*pieces) as server:
        return joined(await events(stream, request(model(server.base_url))))


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [call(index=0, id="a", name="todo"), call(index=0, name="write", arguments="{}")],
            [("a", "todowrite", {})],
            id="name in pieces",
        ),
        pytest.param(
            [
                call(id="a", name="list", arguments="{"),
                call(arguments="}"),
                call(id="b", name="glob", arguments="{}"),
            ],
            [("a", "list", {}), ("b", "glob", {})],
            id="no index",
        ),
        pytest.param([call(index=0, id="a", name="list")], [("a", "list", {})], id="no arguments"),
        pytest.param(
            [call(index=0, id="a", name="list", arguments="[1]")], [("a", "list", None)], id="no object"
        ),
    ],
)
async def test_calls(deltas: list[Any], calls: list[Any]) -> None:
    given = await read(sse(*deltas, delta("stop"), DONE))
    assert [(c.call_id, c.name, c.input) for c in given if isinstance(c, ToolCall)] == calls
    assert given[-1] == Finish("tool-calls", Usage())


@pytest.mark.parametrize(
    ("recorded", "reason"),
    [
        (sse(delta("stop", content="a"), DONE), "stop"),
        (sse(delta("length", content="a"), DONE), "length"),
        (sse(delta("content_filter", content="a")), "content-filter"),
        (sse(delta("strange", content="a"), DONE), "unknown"),
        (sse(delta(content="a"), DONE), "stop"),
        (sse(delta("stop", content="a"))[:-2], "stop"),
    ],
)
async def test_finish_reasons(recorded: bytes, reason: str) -> None:
    first, last = await read(b": keep-alive\r\n\r\n", recorded)
    assert first == TextDelta("a")
    assert isinstance(last, Finish)
    assert last.reason == reason


@pytest.mark.parametrize(
    ("details", "counted"),
    [
        ({"prompt_cache_hit_tokens": 4}, Usage(5, 2, 0, 4)),
        ({"prompt_tokens_details": {"cache_write_tokens": 3}}, Usage(6, 2, 0, 0, 3)),
        ({"total_tokens": 16, "completion_tokens_details": {"reasoning_tokens": 5}}, Usage(9, 2, 5)),
    ],
)
async def test_usage(details: dict[str, Any], counted: Usage) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, **details}
    given = await read(sse({**delta("stop", content="a"), "usage": usage}, DONE))
    assert given[-1] == Finish("stop", counted)


@pytest.mark.parametrize(
    ("recorded", "retryable", "words"),
    [
        (sse(delta(content="a"), "{nonsense"), False, "no JSON object: {nonsense"),
        (sse(DONE), True, "without an answer"),
        (sse({"error": {"message": "boom", "code": 503}}), True, "boom"),
        (sse({"object": "error", "message": "wrong", "code": 400}), False, "wrong"),
    ],
)
async def test_broken_streams(recorded: bytes, retryable: bool, words: str) -> None:
    with pytest.raises(ModelError) as raised:
        await read(recorded)
    assert words in raised.value.message
    assert raised.value.retryable == retryable


async def test_a_refusal_shows_no_key() -> None:
    body = b'{"error": {"message": "bad key local-secret"}}'
    async with replaying(body, status=401, headers={"Retry-After": "3"}) as server:
        with pytest.raises(AuthFailed) as raised:
            await events(stream, request(model(server.base_url, api_key="local-secret")))
    assert raised.value.message == "bad key ***"
    assert "secret" not in raised.value.body
    assert raised.value.headers["retry-after"] == "3"


async def test_nobody_listens() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ModelError) as raised:
            await events(stream, request(model(url)))
    told = raised.value.message
    assert told == f"Could not connect to fake at {url}/chat/completions: connection refused"


async def test_no_web_address() -> None:
    with pytest.raises(ModelError, match="is no web address"):
        await events(stream, request(model("localhost:1234/v1")))


async def test_a_proxy_that_cannot_be_gone_by(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with pytest.raises(ModelError, match=r"The proxy socks5://.* is none of HTTP") as raised:
        await events(stream, request(model("http://model.example/v1")))
    assert not raised.value.retryable


async def test_a_connection_is_used_again() -> None:
    async with replaying(sse(delta("stop", content="a"), DONE)) as server:
        for _ in range(3):
            await events(stream, request(model(server.base_url)))
        assert (len(server.requests), server.connections) == (3, 1)
        await aclose()
