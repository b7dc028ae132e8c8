"""Prompts whose answer has a form: one more tool, checked arguments, `structured` or an error."""

from __future__ import annotations

from typing import Any

import pytest

from tests.loopback.script import ToolUse, Turn
from tests.protocol.served import Json, Served
from tests.server import parts_of

pytestmark = pytest.mark.asyncio(loop_scope="session")

OWN_ERROR = "a bad value is answered as OpenCode does and not as its document says"
NAME = "StructuredOutput"
SCHEMA: Json = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"name": {"$ref": "#/definitions/name"}, "age": {"type": ["integer", "null"]}},
    "required": ["name"],
    "definitions": {"name": {"type": "string"}},
}
RIGHT = {"name": "Ada", "age": None}
WRONG = {"name": 5}


def answer(arguments: dict[str, Any] | str) -> Turn:
    return Turn(tools=[ToolUse(NAME, arguments)])


def body(schema: Any = SCHEMA, **more: Any) -> Json:
    """As OpenCode's SDK sends it."""
    form = {"type": "json_schema", "schema": schema, **more}
    return {"parts": [{"type": "text", "text": "Who?"}], "format": form}


async def asked(served: Served, *turns: Turn, session: str = "", **more: Any) -> tuple[Json, list[Any]]:
    """The answer to a prompt, and the bodies that the model was sent for it."""
    begun = len(served.model.requests)
    served.plays(*turns)
    session = session or await served.session()
    said = await served.post(f"/session/{session}/message", body(**more))
    assert await served.get(f"/session/{session}/message/{said['info']['id']}") == said
    return said, [request.body for request in served.model.requests[begun:]]


async def test_the_right_answer_ends_the_turn(served: Served) -> None:
    said, sent = await asked(served, answer(RIGHT), Turn(text="Never said."))
    assert said["info"]["structured"] == RIGHT
    assert (said["info"]["finish"], "error" in said["info"]) == ("tool-calls", False)
    (call,) = parts_of([said], "tool")
    assert (call["tool"], call["state"]["status"]) == (NAME, "completed")
    assert (call["state"]["title"], call["state"]["metadata"]["valid"]) == ("Structured Output", True)
    (request,) = sent
    (tool,) = [tool["function"] for tool in request["tools"] if tool["function"]["name"] == NAME]
    named = SCHEMA["definitions"]["name"]
    properties = {**SCHEMA["properties"], "name": named}
    whole = {key: value for key, value in SCHEMA.items() if key not in ("$schema", "definitions")}
    assert tool["parameters"] == {**whole, "properties": properties}, "references are put in place"
    assert request["tool_choice"] == "required"
    assert NAME in request["messages"][0]["content"]
    prompt = (await served.get(f"/session/{said['info']['sessionID']}/message"))[0]
    assert prompt["info"]["format"] == body(retryCount=2)["format"]


async def test_other_work_comes_first_and_the_next_prompt_is_free(served: Served) -> None:
    look = Turn(tools=[ToolUse("read", {"filePath": "hello.py"})])
    session = await served.session()
    said, sent = await asked(served, look, answer(RIGHT), session=session)
    assert (said["info"]["structured"], len(sent)) == (RIGHT, 2)
    words = await served.client.prompt(session, "And in words?")
    assert "structured" not in words["info"]
    after = served.model.requests[-1].body
    assert "tool_choice" not in after
    assert NAME not in [tool["function"]["name"] for tool in after["tools"]]


@pytest.mark.parametrize("wrong", [WRONG, '{"name": '], ids=["unfit", "no JSON"])
async def test_a_wrong_answer_goes_back(served: Served, wrong: Any) -> None:
    said, sent = await asked(served, answer(wrong), answer(RIGHT))
    assert said["info"]["structured"] == RIGHT
    told = sent[1]["messages"][-1]
    assert told["role"] == "tool"
    assert ("$.name: 5 is not of type 'string'" if wrong == WRONG else "not a JSON object") in told["content"]


async def test_too_many_wrong_answers_end_the_turn(served: Served) -> None:
    """Nobody is asked about the third call of the same kind."""
    wrong = [answer(WRONG)] * 3 + [answer('{"name": ')]
    said, sent = await asked(served, *wrong, answer(RIGHT), retryCount=3)
    assert len(sent) == 4
    error = said["info"]["error"]
    assert (error["name"], error["data"]["retries"]) == ("StructuredOutputError", 3)
    assert "structured" not in said["info"]
    said, sent = await asked(served, answer(WRONG), answer(RIGHT), retryCount=0)
    assert (len(sent), said["info"]["error"]["data"]["retries"]) == (1, 0)


async def test_words_alone_are_no_answer(served: Served) -> None:
    said, sent = await asked(served, Turn(text="It was Ada."), answer(RIGHT))
    assert len(sent) == 1
    assert (said["info"]["error"]["name"], said["info"]["error"]["data"]["retries"]) == (
        "StructuredOutputError",
        0,
    )
    assert parts_of([said], "text")[0]["text"] == "It was Ada."


async def test_no_rule_keeps_the_answer_back(served: Served) -> None:
    """Neither denied nor asked about, and not within a batch, where it would not end the turn."""
    rules = [{"permission": "*", "pattern": "*", "action": "deny"}]
    session = (await served.post("/session", {"permission": rules}))["id"]
    said, sent = await asked(served, answer(RIGHT), session=session)
    assert said["info"]["structured"] == RIGHT
    assert [tool["function"]["name"] for tool in sent[0]["tools"]] == [NAME]
    batch = Turn(tools=[ToolUse("batch", {"tool_calls": [{"tool": NAME, "parameters": RIGHT}]})])
    said, sent = await asked(served, batch, answer(RIGHT))
    assert (said["info"]["structured"], len(sent)) == (RIGHT, 2)


@pytest.mark.parametrize(
    ("schema", "named"),
    [
        ({"type": "nonsense"}, "$.type"),
        ({"properties": {"a": {"pattern": "("}}}, "$.properties.a.pattern"),
        ({"type": "string"}, "$.type"),
        ({"properties": {"a": {"$ref": "http://127.0.0.1:1/s.json"}}}, "$ref"),
        ({"$ref": "#/$defs/none"}, "$ref"),
        ({"$ref": "#"}, "itself"),
        ({"$schema": "http://127.0.0.1:1/s.json"}, "$.$schema"),
        ({"$schema": {"a": 1}}, "$.$schema"),
        ({"description": "x" * 100_001}, "larger"),
        (3, ""),
    ],
)
async def test_a_schema_that_cannot_be_used_is_named(served: Served, schema: Any, named: str) -> None:
    session = await served.session()
    for path in ("message", "prompt_async"):
        wrong = await served.post(f"/session/{session}/{path}", body(schema), status=400, departs=OWN_ERROR)
        assert wrong["data"]["message"].startswith("format")
        assert named in wrong["data"]["message"]
    assert await served.get(f"/session/{session}/message") == []


@pytest.mark.parametrize(
    "form", [{"type": "json_schema"}, {"type": "xml"}, {}, body(retryCount=-1)["format"]]
)
async def test_a_format_that_is_none_is_named(served: Served, form: Json) -> None:
    session = await served.session()
    given = body() | {"format": form}
    path = f"/session/{session}/prompt_async"
    wrong = await served.post(path, given, status=400, departs=OWN_ERROR)
    assert wrong["data"]["message"].startswith("format")


async def test_a_format_for_nobody_is_kept(served: Served) -> None:
    session = await served.session()
    given = body() | {"noReply": True}
    departs = "the message itself is answered, as OpenCode does; its document has assistant messages only"
    said = await served.post(f"/session/{session}/message", given, departs=departs)
    assert said["info"]["format"]["schema"] == SCHEMA
    assert await served.get(f"/session/{session}/message") == [said]
