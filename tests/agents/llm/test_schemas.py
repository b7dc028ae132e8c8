"""Schemas as servers of every kind take them, and nothing of ours in the hands of a library."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import pytest

from agents.llm import stream
from agents.llm.readers import litellm_reader, openai_body
from agents.llm.readers.openai_body import in_place
from agents.llm.types import ToolSpec
from tests.agents.llm.asking import Protocol, events, model, request
from tests.loopback.anthropic import AnthropicServer
from tests.loopback.openai import OpenAIServer
from tests.loopback.responses import ResponsesServer
from tests.loopback.script import Turn
from tests.loopback.server import LoopbackServer

NESTED: dict[str, Any] = {
    "type": "object",
    "title": "Input",
    "$defs": {
        "Todo": {
            "type": "object",
            "title": "Todo",
            "properties": {"title": {"type": "string", "title": "Title"}, "after": {"$ref": "#/$defs/Todo"}},
        }
    },
    "properties": {
        "todos": {"type": "array", "items": {"$ref": "#/$defs/Todo", "description": "One."}},
        "where": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": {"title": "x"}},
        "far": {"$ref": "https://a.example/schema"},
    },
}


def test_references_are_put_in_place() -> None:
    before = copy.deepcopy(NESTED)
    todo = {"type": "object", "properties": {"title": {"type": "string"}, "after": {}}, "description": "One."}
    assert in_place(NESTED) == {
        "type": "object",
        "properties": {
            "todos": {"type": "array", "items": todo},
            "where": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": {"title": "x"}},
            "far": {},
        },
    }
    assert before == NESTED


def test_references_do_not_grow_without_end() -> None:
    defs = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(50)}
    assert in_place({"type": "object", "$defs": defs, "properties": {"a": {"$ref": "#/$defs/d0"}}})


@pytest.mark.parametrize("build", [openai_body.build, litellm_reader._arguments])
def test_nothing_of_a_schema_is_shared(build: Any) -> None:
    asked = request(model(), tools=[ToolSpec("todo", "Todos.", NESTED)])
    before = copy.deepcopy(NESTED)
    sent = build(asked)["tools"][0]["function"]["parameters"]
    sent["properties"]["where"]["anyOf"].clear()
    sent["properties"]["where"]["default"].clear()
    assert before == NESTED


@pytest.mark.parametrize(
    ("server_class", "protocol"),
    [(OpenAIServer, "openai"), (AnthropicServer, "anthropic"), (ResponsesServer, "responses")],
)
async def test_who_asks_and_for_which_session(server_class: type[LoopbackServer], protocol: Protocol) -> None:
    async with server_class([Turn(text="a"), Turn(text="b")]) as server:
        asked = request(model(server.base_url, protocol))
        await events(stream, replace(asked, session="ses_1"))
        own = replace(asked.model, headers={"User-Agent": "mine"})
        await events(stream, replace(asked, model=own))
        first, second = (seen.headers for seen in server.requests)
    assert first["x-session-affinity"] == "ses_1"
    assert first["user-agent"].startswith("opencode-web/")
    assert "x-session-affinity" not in second
    assert second["user-agent"] == "mine"
