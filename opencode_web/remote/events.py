"""Server-sent events as OpenCode frames them: one JSON object in each `data` field."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """One event of `/event`."""

    type: str
    properties: dict[str, Any]

    @property
    def session_id(self) -> str:
        return str(self.properties.get("sessionID", ""))


async def events(chunks: AsyncIterator[bytes]) -> AsyncGenerator[Event]:
    """The events in a stream of bytes; a frame that is no event is left out.

    Lines are cut at line feeds only: a text in the JSON may hold other line separators as they are.
    """
    data: list[bytes] = []
    async for line in _lines(chunks):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            event = _event(b"\n".join(data))
            data = []
            if event is not None:
                yield event


async def _lines(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r")


def _event(data: bytes) -> Event | None:
    try:
        found = json.loads(data)
        return Event(found["type"], found.get("properties") or {})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
