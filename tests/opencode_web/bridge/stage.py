"""The bridge as an MCP client sees it: a process on standard input and output, driven by the official SDK."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn
from tests.protocol.served import Script
from tests.server import ROOT

CALL_SECONDS = 60


@dataclass(frozen=True)
class Answered:
    """What a tool said."""

    text: str
    failed: bool
    progress: list[str] = field(default_factory=list)


class Tools:
    """Calls tools of one bridge."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.heard: Callable[[str], None] = lambda _: None
        """Called with each progress notification as it comes."""

    async def __call__(self, name: str, /, **arguments: Any) -> Answered:
        """The answer of `opencode_NAME`, which may have failed."""
        steps: list[str] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            steps.append(message or "")
            self.heard(message or "")

        async with asyncio.timeout(CALL_SECONDS):
            result = await self.client.call_tool(f"opencode_{name}", arguments, progress_callback=note)
        content = result.content[0]
        assert content.type == "text"
        return Answered(content.text, bool(result.is_error), steps)

    async def ok(self, name: str, /, **arguments: Any) -> str:
        """The text of an answer that has to be a success."""
        answered = await self(name, **arguments)
        assert not answered.failed, f"{name}: {answered.text}"
        return answered.text

    async def fails(self, name: str, /, **arguments: Any) -> str:
        answered = await self(name, **arguments)
        assert answered.failed, f"{name}: {answered.text}"
        return answered.text


@dataclass
class Stage:
    """A server of either make with a model behind it, and a bridge to it."""

    name: str
    tools: Tools
    model: OpenAIServer
    script: Script
    project: Path
    environ: Mapping[str, str]
    """What a bridge to this server is started with."""

    def plays(self, *turns: Turn) -> None:
        """What the model answers next; afterwards "Done."."""
        self.script.turns.clear()
        self.script.turns.extend(turns)

    async def session(self) -> str:
        """The id of a new session."""
        return (await self.tools.ok("session_create", title="A session")).split(" ")[0]


@asynccontextmanager
async def bridged(environ: Mapping[str, str], project: Path, *options: str) -> AsyncIterator[Tools]:
    """A bridge as a process. Its client lives in a task of its own: the SDK wants it left where it was
    entered, and fixtures are not."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "opencode_web", "mcp", "--directory", str(project), *options],
        env=dict(environ),
        cwd=ROOT,
    )
    opened: asyncio.Future[Tools] = asyncio.get_running_loop().create_future()
    leave = asyncio.Event()

    async def hold() -> None:
        async with Client(parameters) as client:
            opened.set_result(Tools(client))
            await leave.wait()

    holding = asyncio.create_task(hold())
    first: set[asyncio.Future[Any]] = {opened, holding}
    await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
    try:
        if holding.done():
            holding.result()
        yield await opened
    finally:
        leave.set()
        await holding


async def cancelled_when(run: Callable[[], Any], ready: Callable[[], Any]) -> None:
    """Begin a call and cancel it as soon as `ready` has returned."""
    call = asyncio.ensure_future(run())
    await ready()
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled()
