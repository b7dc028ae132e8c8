"""What a loopback model was asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from tests.loopback.script import Body


@dataclass(slots=True)
class ModelRequest:
    """One request: the JSON body, the lower-cased headers, when it was read whole (`time.time_ns()`)."""

    body: dict[str, Any]
    headers: dict[str, str]
    received_ns: int
    disconnected: bool = False
    """Whether the client went away before the end of the answer."""


class Record:
    """Requests in the order they came; titles, which come in parallel, apart."""

    def __init__(self) -> None:
        self.requests: list[ModelRequest] = []
        self.titles: list[ModelRequest] = []
        self._changed = asyncio.Event()

    def add(self, request: ModelRequest, *, is_title: bool) -> None:
        (self.titles if is_title else self.requests).append(request)
        self._announce()

    def disconnected(self, request: ModelRequest) -> None:
        request.disconnected = True
        self._announce()

    async def wait(self, met: Callable[[], bool]) -> None:
        """Return once `met` holds; looked at whenever the record changes."""
        while not met():
            await self._changed.wait()

    def as_json(self) -> dict[str, Any]:
        return {"requests": [asdict(r) for r in self.requests], "titles": [asdict(r) for r in self.titles]}

    def _announce(self) -> None:
        """Wake those who wait now; later ones wait for the next change."""
        self._changed.set()
        self._changed = asyncio.Event()


def asks_for_title(body: Body) -> bool:
    """Whether a request is for a session's title: no tools, and its opening words speak of a title, but not
    of those that stops of a tour have."""
    opening = json.dumps(
        [body.get("system"), body.get("instructions"), list(body.get("messages", ()))[:2]]
    ).lower()
    return not body.get("tools") and "title" in opening and "through a change of a program" not in opening
