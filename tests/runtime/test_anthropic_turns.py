"""Trouble in turns of the other protocol: a provider that asks to wait, calls that are wrong."""

from __future__ import annotations

from pathlib import Path

from tests.loopback.anthropic import AnthropicServer
from tests.loopback.script import HttpError, StreamError, ToolUse, Turn
from tests.server import Server, model_config, parts_of, running, until


async def test_the_tokens_of_an_answer_that_fails_are_counted(home: Path, project: Path) -> None:
    failing = Turn(text="Well", fault=StreamError(1, "no", "invalid_request_error"))
    async with (
        AnthropicServer([failing, Turn(text="Hi.")]) as model,
        running(Server(home, project, model_config(model.base_url, "@ai-sdk/anthropic"))) as client,
    ):
        session = await client.create_session("named")
        answer = await client.prompt(session["id"], "Hello?")
        assert answer["info"]["error"]["data"]["message"] == "no"
        assert (await client.session(session["id"]))["tokens"]["input"] == 10
        await client.prompt(session["id"], "Hello?")
        assert (await client.session(session["id"]))["tokens"]["input"] == 20


async def test_a_retry_and_wrong_calls(home: Path, project: Path) -> None:
    calls = [
        ToolUse("READ", {"filePath": "hello.py"}),
        ToolUse("read", '{"filePath": '),
        ToolUse("teleport", {}),
        ToolUse("read", {}),
    ]
    overloaded = HttpError(529, "slow down", "overloaded_error", {"retry-after-ms": "20"})
    script = [Turn(fault=overloaded), Turn(tools=calls), Turn(text="I see.")]
    async with (
        AnthropicServer(script) as model,
        running(Server(home, project, model_config(model.base_url, "@ai-sdk/anthropic"))) as client,
        client.events() as events,
    ):
        session = await client.create_session("named")
        await client.prompt_async(session["id"], "Call.")
        status: dict[str, str] = {}
        while status.get("type") != "retry":
            status = (await until(events, "session.status")).properties["status"]
        assert "slow down" in status["message"]
        await until(events, "session.idle")
        history = await client.messages(session["id"])
        repaired, malformed, unknown, incomplete = parts_of(history, "tool")
        assert (repaired["tool"], repaired["state"]["status"]) == ("read", "completed")
        results = {
            result["tool_use_id"]: str(result)
            for result in model.requests[2].body["messages"][-1]["content"]
            if result["type"] == "tool_result"
        }
        for part, expected in (
            (repaired, "return 'hello'"),
            (malformed, "JSON"),
            (unknown, "teleport"),
            (incomplete, "filePath"),
        ):
            assert expected in results[part["callID"]]
        assert history[-1]["info"]["finish"] == "stop"
