"""Clients of the server in `fake_server`, each ended with its test."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from agents.servers.lsp.client.client import Client
from agents.servers.lsp.client.encoding import uri_of
from agents.servers.lsp.types import Update

PROGRAM = Path(__file__).with_name("fake_server.py")
INCREMENTAL = {"textDocumentSync": {"openClose": True, "change": 2, "save": {"includeText": True}}}
WITHIN = 20.0


def argv(mode: str = "good", capabilities: Mapping[str, Any] = INCREMENTAL) -> list[str]:
    return [sys.executable, "-I", "-S", str(PROGRAM), mode, json.dumps(capabilities)]


class Stage:
    """`updates` is what listeners were told."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.root = client.root
        self.updates: list[Update] = []
        client.listeners.append(self.updates.append)

    async def fake(self, name: str, *arguments: Any) -> Any:
        """Have the server do something; see `fake_server.Fake`. As text, so that nothing is converted."""
        answer = await self.client.request(f"fake/{name}", [json.dumps(arguments)], WITHIN)
        return json.loads(answer)

    async def say(self, method: str, *params: Any) -> None:
        """Have it send notifications, one after the other."""
        await self.fake("say", [{"method": method, "params": one} for one in params])

    async def push(self, path: Path, *messages: str, version: int | None = None) -> None:
        """Have it push a problem for each message."""
        await self.say("textDocument/publishDiagnostics", pushed(path, *messages, version=version))

    async def heard(self, method: str) -> list[Any]:
        found: list[Any] = await self.fake("heard", method)
        return found


def pushed(path: Path, *messages: str, version: int | None = None) -> dict[str, Any]:
    found = {"uri": uri_of(path), "diagnostics": [problem(message) for message in messages]}
    return found if version is None else {**found, "version": version}


def problem(message: str, start: tuple[int, int] = (0, 0), end: tuple[int, int] = (0, 1)) -> dict[str, Any]:
    places = {name: {"line": line, "character": at} for name, (line, at) in (("start", start), ("end", end))}
    return {"range": places, "message": message, "severity": 1}


@asynccontextmanager
async def playing(
    root: Path, capabilities: Mapping[str, Any] = INCREMENTAL, **options: Any
) -> AsyncIterator[Stage]:
    """`options` are those of `Client.start`."""
    command = argv("good", capabilities)
    client = await Client.start("fake", command, root, dict(os.environ), within=WITHIN, **options)
    try:
        yield Stage(client)
    finally:
        await client.end()
