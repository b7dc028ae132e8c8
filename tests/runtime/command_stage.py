"""A real server with one command, `go`, for tests of whole turns."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.client import Client, Event
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn
from tests.server import Server, model_config, running

ASK: dict[str, Any] = {"permission": {"*": "allow", "bash": "ask", "external_directory": "ask"}}


def sent(body: Mapping[str, Any]) -> str:
    """The last user message of a request."""
    content = body["messages"][-1]["content"]
    assert body["messages"][-1]["role"] == "user"
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


@asynccontextmanager
async def asking(home: Path, project: Path, template: str, **config: Any) -> AsyncIterator[Stage]:
    """A server with one command `go` whose shell lines ask; the script has answers enough."""
    script = [Turn(text="One."), Turn(text="Two.")]
    async with OpenAIServer(script) as model:
        commands = {"go": {"template": template, **config.pop("entry", {})}}
        server = Server(home, project, model_config(model.base_url, command=commands, **ASK | config))
        async with running(server) as client, client.events() as events:
            yield Stage(client, model, events, (await client.create_session(title="named"))["id"])


@dataclass
class Stage:
    client: Client
    model: OpenAIServer
    events: AsyncIterator[Event]
    session: str

    def go(self, arguments: str = "", **more: Any) -> asyncio.Task[Any]:
        body = {"command": "go", "arguments": arguments, **more}
        return asyncio.create_task(self.client.post(f"/session/{self.session}/command", body))

    async def history(self) -> list[dict[str, Any]]:
        return await self.client.messages(self.session)
