"""Events of a server held against OpenCode's document, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.protocol.reference import Reference

SCHEMAS = {"/event": "Event", "/global/event": "GlobalEvent", "/api/event": "V2Event"}
UNDECLARED = {"server.heartbeat", "server.resync"}
"""OpenCode sends the one, and the other is said in place of events that are missing."""


@dataclass
class Heard:
    """`types` are those that came of each stream, `problems` what the document says against them."""

    reference: Reference
    types: dict[str, set[str]] = field(default_factory=lambda: {path: set() for path in SCHEMAS})
    problems: list[str] = field(default_factory=list)
    attacked: str = ""
    """A folder into whose rows a test puts what the document has not, and which is told so."""

    @asynccontextmanager
    async def listening(self, http: httpx.AsyncClient) -> AsyncIterator[None]:
        """To all streams, as a client that asks for nothing of ours."""
        tasks = []
        for path in SCHEMAS:
            begun = asyncio.Event()
            tasks.append(asyncio.create_task(self._listen(http, path, begun)))
            await begun.wait()
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self, http: httpx.AsyncClient, path: str, begun: asyncio.Event) -> None:
        while True:  # `/event` ends with its folder's instance
            with suppress(httpx.TransportError):
                async with http.stream("GET", path, timeout=None) as answer:
                    async for line in answer.aiter_lines():
                        if line.startswith("data: "):
                            self._take(path, json.loads(line[6:]))
                            begun.set()

    def _take(self, path: str, event: dict[str, Any]) -> None:
        told = event.get("payload", event)
        type = told["syncEvent"]["type"] if told["type"] == "sync" else told["type"]
        self.types[path].add(type)
        folder = event.get("directory") or event.get("location", {}).get("directory")
        if type not in UNDECLARED and (folder != self.attacked or not folder):
            schema = {"$ref": f"#/components/schemas/{SCHEMAS[path]}"}
            self.problems += [
                f"{path}: {problem}: {event}"[:2000] for problem in self.reference.wrong(schema, event)
            ]

    def declared(self) -> set[str]:
        """The types that the document has for `/event`."""
        schemas = self.reference.document["components"]["schemas"]
        names = (item["$ref"].rpartition("/")[2] for item in schemas["Event"]["anyOf"])
        return {schemas[name]["properties"]["type"]["enum"][0] for name in names}
