"""A session over the second protocol alone, its events held against the document's schemas."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from bench.client import NO_TIMEOUT
from tests.protocol.served import Json, Served
from tests.server import PATIENCE

NEXT = "session.next."


@dataclass
class Talk:
    """One session; paths are below `/api/session/{id}`."""

    served: Served
    id: str

    @classmethod
    async def begin(cls, served: Served, **fields: Any) -> Talk:
        made = await served.post("/api/session", fields)
        return cls(served, made["data"]["id"])

    async def get(self, path: str = "", **query: Any) -> Any:
        return (await self.served.get(f"/api/session/{self.id}{path}", **query))["data"]

    async def post(self, path: str, body: Any = None, *, status: int = 204, **options: Any) -> Any:
        return await self.served.post(f"/api/session/{self.id}{path}", body, status=status, **options)

    async def prompt(self, text: str, **fields: Any) -> Json:
        """Admit a prompt and return."""
        admitted = await self.post("/prompt", {"prompt": {"text": text}, **fields}, status=200)
        found: Json = admitted["data"]
        return found

    async def wait(self) -> None:
        await self.post("/wait")

    async def says(self, text: str, **fields: Any) -> Json:
        """A whole turn; the prompt as it was admitted."""
        admitted = await self.prompt(text, **fields)
        await self.wait()
        return admitted

    async def messages(self) -> list[Json]:
        """All, oldest first."""
        found: list[Json] = await self.get("/message", order="asc", limit=1000)
        return found

    async def history(self, after: int = 0) -> list[Json]:
        found: list[Json] = await self.get("/history", after=after, limit=1000)
        return found

    def events(self, after: int = 0) -> Any:
        return events(self.served, f"/api/session/{self.id}/event?after={after}", "SessionDurableEvent")


@asynccontextmanager
async def events(served: Served, path: str, schema: str) -> AsyncIterator[AsyncIterator[Json]]:
    """Frames of a stream, each checked; the subscription stands when the block is entered."""
    checker = Draft202012Validator(
        {"$ref": f"#/components/schemas/{schema}", "components": served.reference.document["components"]}
    )
    async with served.http.stream("GET", path, timeout=NO_TIMEOUT) as response:
        assert response.status_code == 200
        assert response.headers["content-type"] == "text/event-stream"
        lines = response.aiter_lines()
        async for line in lines:
            if line == ": heartbeat":
                break
        yield _checked(lines, checker)


async def _checked(lines: AsyncIterator[str], checker: Draft202012Validator) -> AsyncIterator[Json]:
    async for line in lines:
        assert line == "" or line.startswith((":", "data: ")), line
        if line.startswith("data: "):
            event = json.loads(line.removeprefix("data: "))
            problems = [error.message[:300] for error in checker.iter_errors(event)]
            assert not problems, f"{event}: {problems[:3]}"
            yield event


async def until(stream: AsyncIterator[Json], type: str, **data: Any) -> list[Json]:
    """What comes, up to an event of this type whose data have these values."""
    found: list[Json] = []
    async with asyncio.timeout(PATIENCE):
        async for event in stream:
            found.append(event)
            if event["type"] == type and data.items() <= event["data"].items():
                return found
    raise AssertionError(f"the stream ended before {type}")


def kinds(events: list[Json]) -> list[str]:
    """Types of a session's events, without what they begin with."""
    return [event["type"].removeprefix(NEXT) for event in events if event["type"].startswith(NEXT)]
