"""`opencode-web acp` as an editor sees it: a process on standard streams, driven by the SDK's client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from acp.client.connection import ClientSideConnection
from acp.exceptions import RequestError
from acp.interfaces import Client
from acp.meta import PROTOCOL_VERSION
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    FileSystemCapabilities,
    InitializeResponse,
    PermissionOption,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TextContentBlock,
    ToolCallUpdate,
)

from tests.server import ROOT

SECONDS = 60
Answer = Callable[[ToolCallUpdate, list[PermissionOption]], str | None]
"""The id of the option that the person takes; None closes the request."""


@dataclass
class Told:
    """One notification, as it stands on the wire."""

    session_id: str
    update: Mapping[str, Any]

    @property
    def kind(self) -> str:
        return str(self.update["sessionUpdate"])


@dataclass
class Person:
    """The editor and who sits before it."""

    told: list[Told] = field(default_factory=list)
    asked: list[tuple[ToolCallUpdate, list[PermissionOption]]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    """What is open in the editor, by path."""
    answer: Answer = lambda call, options: "once"
    hold: bool = False
    """Leave every request unanswered."""
    _news: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        wire = update.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
        async with self._news:
            self.told.append(Told(session_id, wire))
            self._news.notify_all()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        async with self._news:
            self.asked.append((tool_call, options))
            self._news.notify_all()
        if self.hold:
            await asyncio.Event().wait()
        chosen = self.answer(tool_call, options)
        if chosen is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=chosen))

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        if path not in self.texts:
            raise RequestError.resource_not_found(path)
        return ReadTextFileResponse(content=self.texts[path])

    async def until(self, seen: Callable[[], Any]) -> Any:
        """What `seen` gives, once it gives something."""
        async with asyncio.timeout(SECONDS), self._news:
            await self._news.wait_for(seen)
        return seen()

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        """The updates of one kind."""
        return [told.update for told in self.told if told.kind == kind]

    def said(self, kind: str = "agent_message_chunk") -> str:
        return "".join(update["content"].get("text", "") for update in self.of(kind))


@dataclass
class Editor:
    """A started agent, and what was said at its start."""

    agent: ClientSideConnection
    person: Person
    process: asyncio.subprocess.Process
    initialized: InitializeResponse
    lines: list[dict[str, Any]]
    """What it wrote, message by message."""

    async def prompt(self, session_id: str, *blocks: Any) -> Any:
        given = [TextContentBlock(type="text", text=one) if isinstance(one, str) else one for one in blocks]
        async with asyncio.timeout(SECONDS):
            return await self.agent.prompt(session_id=session_id, prompt=given)


@asynccontextmanager
async def editing(environ: Mapping[str, str], *options: str, reads: bool = True) -> AsyncIterator[Editor]:
    """An editor that has started the agent, and closes its input at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "opencode_web", "acp", *options),
        cwd=ROOT,
        env=dict(environ),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 26,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    person, lines = Person(), list[dict[str, Any]]()
    agent = ClientSideConnection(
        cast(Client, person),
        process.stdin,
        process.stdout,
        use_unstable_protocol=True,
        observers=[lambda event: lines.append(event.message) if event.direction == "incoming" else None],
    )
    try:
        abilities = ClientCapabilities(fs=FileSystemCapabilities(read_text_file=reads))
        async with asyncio.timeout(SECONDS):
            initialized = await agent.initialize(
                protocol_version=PROTOCOL_VERSION, client_capabilities=abilities
            )
        yield Editor(agent, person, process, initialized, lines)
    finally:
        await agent.close()
        process.stdin.close()
        async with asyncio.timeout(SECONDS):
            await process.wait()


def texts(options: list[PermissionOption]) -> list[str]:
    return [option.option_id for option in options]
