"""What the model is told of a server that is written as the first examples of the Python SDK are."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.protocol.served import Script
from tests.runtime.servers import ready
from tests.runtime.staging import outputs
from tests.server import Server, model_config, running, serving

PROGRAM = Path(__file__).with_name("small_server.py")
SMALL: dict[str, Any] = {"mcp": {"small": {"type": "local", "command": [sys.executable, str(PROGRAM)]}}}


async def test_a_resource_may_have_an_address_that_begins_with_data(home: Path, project: Path) -> None:
    """`data://config` is no `data:` URL, though it looks like one."""
    source = {"type": "resource", "clientName": "small", "uri": "data://config"}
    words = {"value": "@it", "start": 0, "end": 3}
    file = {"type": "file", "mime": "text/plain", "url": "data://config", "filename": "config"}
    parts = [{"type": "text", "text": "@it"}, {**file, "source": {**source, "text": words}}]
    script = Script()
    async with OpenAIServer(script, title=None) as model:
        config = model_config(model.base_url, **SMALL)
        async with running(Server(home, project, config)) as client:
            await ready(client, "small_add")
            session = (await client.create_session("named"))["id"]
            await client.post(f"/session/{session}/message", {"parts": parts})
            said = json.dumps(model.requests[-1].body["messages"][-1]["content"])
    assert "the resource data://config of the MCP server small:" in said
    assert "the colour is green" in said
    assert "Attached file" not in said


async def test_a_result_is_told_once(home: Path, project: Path) -> None:
    """What the SDK wraps into `{"result": …}` for its schema is the text that is there already."""
    script = [
        Turn(
            tools=[
                ToolUse("small_add", {"a": 40, "b": 2}),
                ToolUse("small_greet", {"name": "Ada"}),
                ToolUse("small_names", {}),
            ]
        ),
        Turn(text="Done."),
    ]
    async with serving(home, project, script, **SMALL) as (client, _):
        await ready(client, "small_add")
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Call them.")
        assert await outputs(client, session["id"]) == ["42", "Hello, Ada", "one\n\ntwo"]
