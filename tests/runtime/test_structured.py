"""An answer in a form outlives a crash, comes by Anthropic's protocol, and is what is left of the steps."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from tests.loopback.anthropic import AnthropicServer
from tests.loopback.script import ToolUse, Turn
from tests.server import PATIENCE, Server, model_config, running, until

FORM: dict[str, Any] = {
    "type": "json_schema",
    "schema": {"properties": {"n": {"type": "integer"}}, "required": ["n"]},
}
NAME = "StructuredOutput"


async def crash(server: Server, **fields: Any) -> str:
    """Prompt a server that kills itself before the prompt is a message; the session's id."""
    dying = Server(
        server.home,
        server.project,
        server.config,
        {"CRASH_AT": "within promotion"},
        module="tests.runtime.crashing",
    )
    await asyncio.to_thread(dying.start)
    assert dying.process is not None
    async with dying.client() as client:
        session = await client.create_session(title="named")
        with contextlib.suppress(Exception):  # the answer may never come
            await client.prompt_async(session["id"], "Count.", **fields)
    assert await asyncio.to_thread(dying.process.wait, PATIENCE) == -9, dying.log()
    return str(session["id"])


async def test_a_form_outlives_a_crash_and_the_last_step(home: Path, project: Path) -> None:
    script = [
        Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]),
        Turn(tools=[ToolUse(NAME, {"n": "one"})]),
        Turn(tools=[ToolUse(NAME, {"n": 1})]),
    ]
    async with AnthropicServer(script) as model:
        config = model_config(model.base_url, "@ai-sdk/anthropic", agent={"build": {"steps": 1}})
        server = Server(home, project, config)
        session_id = await crash(server, format=FORM)
        assert model.requests == []
        async with running(server) as client, client.events() as events:
            history = await client.messages(session_id)
            while not history or "structured" not in history[-1]["info"]:
                await until(events, "session.idle")
                history = await client.messages(session_id)
        assert history[-1]["info"]["structured"] == {"n": 1}
        first, second, third = (request.body for request in model.requests)
        assert {first["tool_choice"]["type"], third["tool_choice"]["type"]} == {"any"}
        assert len(first["tools"]) > 1
        (tool,) = second["tools"]
        assert (tool["name"], tool["input_schema"]) == (NAME, FORM["schema"] | {"type": "object"})
        assert "limit of steps" in str(second["messages"][-1])
        (told,) = [part for part in third["messages"][-1]["content"] if part["type"] == "tool_result"]
        assert (told["is_error"], "$.n" in told["content"]) == (True, True)
