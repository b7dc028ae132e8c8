"""Prompts of a real MCP server as commands, and its resources in a prompt."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.loopback.openai import OpenAIServer
from tests.protocol.served import Script
from tests.runtime.servers import ready
from tests.server import Server, model_config, parts_of, running

DOCUMENT = "demo://resource/static/document/architecture.md"


def attached(uri: str, client: str = "e", mime: str = "text/plain") -> dict[str, Any]:
    """A file part as OpenCode's clients send it for a resource."""
    words = {"value": "@it", "start": 0, "end": 3}
    source = {"type": "resource", "clientName": client, "uri": uri, "text": words}
    return {"type": "file", "mime": mime, "url": uri, "filename": "it", "source": source}


async def test_prompts_and_resources(home: Path, project: Path, everything: dict[str, Any]) -> None:
    script = Script()
    async with OpenAIServer(script, title=None) as model:
        config = model_config(model.base_url, mcp={"e": everything})
        async with running(Server(home, project, config)) as client:
            await ready(client, "e_echo")
            session = (await client.create_session("named"))["id"]
            path = f"/session/{session}/command"

            async def sent(body: dict[str, Any], where: str = path) -> str:
                """The last user message that the model is sent."""
                await client.post(where, body)
                return json.dumps(model.requests[-1].body["messages"][-1]["content"])

            known = {one["name"]: one for one in await client.get("/command")}
            assert known["e:args-prompt"]["source"] == "mcp"
            assert known["e:args-prompt"]["hints"] == ["$1", "$2"]
            assert "What's weather in New York, Ohio?" in await sent(
                {"command": "e:args-prompt", "arguments": "'New York' state=Ohio"}
            )
            text = await sent({"command": "e:simple-prompt", "arguments": "and @hello.py !`touch x`"})
            assert "This is a simple prompt without arguments.\\n\\nand @hello.py !`touch x`" in text
            assert "def hello" not in text
            assert not (project / "x").exists()
            text = await sent({"command": "e:resource-prompt", "arguments": "Text 1"})
            assert "[Resource demo://resource/dynamic/text/1]\\nResource 1: This is" in text
            with pytest.raises(httpx.HTTPStatusError) as refusal:
                await client.post(path, {"command": "e:args-prompt", "arguments": "  "})
            assert refusal.value.response.status_code == 400
            assert (
                "The argument city (Name of the city) is missing. Write: city [state]"
                in refusal.value.response.text
            )

            message = f"/session/{session}/message"
            text = await sent({"parts": [{"type": "text", "text": "@it"}, attached(DOCUMENT)]}, message)
            assert f"The user attached the resource {DOCUMENT} of the MCP server e:" in text
            assert "# Everything Server" in text
            assert "not available" not in text
            (file,) = parts_of(await client.messages(session), "file")
            assert (file["url"], file["source"]["clientName"]) == (DOCUMENT, "e")
            text = await sent(
                {"parts": [{"type": "text", "text": "@it"}, attached("demo://no", "e")]}, message
            )
            assert "is not included. The MCP server e answered with an error" in text
            text = await sent(
                {"parts": [{"type": "text", "text": "@it"}, attached("x:y", "nobody")]}, message
            )
            assert "There is no MCP server 'nobody', or it is disabled." in text
