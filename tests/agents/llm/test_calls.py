"""Tool calls as models write them badly: repaired where that is safe, told apart where it is not."""

from __future__ import annotations

from typing import Any

import pytest

from agents.llm import stream
from agents.llm.readers.calls import complete
from agents.llm.types import ToolCall, ToolInputStart
from tests.agents.llm.asking import Protocol, events, model, request
from tests.loopback.anthropic import AnthropicServer
from tests.loopback.openai import OpenAIServer
from tests.loopback.responses import ResponsesServer
from tests.loopback.script import TokenUsage, ToolUse, Turn
from tests.loopback.server import LoopbackServer

SERVERS: list[tuple[type[LoopbackServer], Protocol]] = [
    (OpenAIServer, "openai"),
    (AnthropicServer, "anthropic"),
    (ResponsesServer, "responses"),
]


@pytest.mark.parametrize(
    ("raw", "given"),
    [
        ('{"a": [1, 2,], "b": ",}",}', {"a": [1, 2], "b": ",}"}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ('{"a": "one\ntwo"}', {"a": "one\ntwo"}),
        ('{"a": ', None),
        ("[1]", None),
        ('"text"', None),
        ("[" * 100_000, None),
    ],
)
def test_arguments(raw: str, given: dict[str, Any] | None) -> None:
    assert complete("c", "read", raw).input == given


@pytest.mark.parametrize(("server_class", "protocol"), SERVERS)
async def test_an_id_given_twice_is_one_calls_own(
    server_class: type[LoopbackServer], protocol: Protocol
) -> None:
    uses = [ToolUse("read", {"filePath": name}, "call_same") for name in ("a", "b")]
    async with server_class([Turn(tools=uses)]) as server:
        found = await events(stream, request(model(server.base_url, protocol)))
    begun = [event.call_id for event in found if isinstance(event, ToolInputStart)]
    made = [event.call_id for event in found if isinstance(event, ToolCall)]
    assert begun == made
    assert made[0] == "call_same"
    assert len(set(made)) == 2


@pytest.mark.parametrize(("server_class", "protocol"), SERVERS)
async def test_arguments_that_the_output_limit_cut(
    server_class: type[LoopbackServer], protocol: Protocol
) -> None:
    uses = [ToolUse("read", {"filePath": "a"}, "call_a"), ToolUse("write", '{"content": "On', "call_b")]
    turn = Turn(tools=uses, finish="length", usage=TokenUsage(output=4096))
    async with server_class([turn]) as server:
        found = await events(stream, request(model(server.base_url, protocol)))
    whole, cut = [event for event in found if isinstance(event, ToolCall)]
    assert (whole.input, whole.cut_at) == ({"filePath": "a"}, None)
    assert (cut.input, cut.cut_at) == (None, 4096)
