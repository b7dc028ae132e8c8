"""Watch one session on the event stream."""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from typing import Any

from opencode_web.bridge.call import Call
from opencode_web.bridge.following.progress import Progress
from opencode_web.bridge.following.requests import family, pending
from opencode_web.bridge.formatting.messages import error_text
from opencode_web.remote.errors import RemoteError
from opencode_web.remote.events import Event

logger = logging.getLogger(__name__)

STREAM_TRIES = 3
REASON_SECONDS = 0.5
LOOKS = frozenset(
    {
        "server.connected",
        "server.heartbeat",
        "session.idle",
        "session.error",
        "permission.asked",
        "question.asked",
    }
)
"""After these it is worth looking at the state. A heartbeat is one: what a lost stream did not tell is
found within 10 s."""


class Watch:
    """The call has to be at the session's directory: events are scoped by it."""

    def __init__(self, call: Call, session_id: str) -> None:
        self.open = asyncio.Event()
        """Set when nothing that happens from now on is missed."""
        self._error: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._call = call
        self._session_id = session_id
        self._family = {session_id}
        self._progress = Progress()

    async def asked(self) -> list[str]:
        """Tell progress until somebody has to answer; a line for each request."""
        return await self._until(idle=False)

    async def settled(self) -> list[str]:
        """The same, and return an empty list when the session is idle."""
        return await self._until(idle=True)

    async def reason(self) -> str:
        """What an event says of the error a request has just been answered with; OpenCode's answer may say
        nothing of it. Empty when none comes."""
        await asyncio.wait({self._error}, timeout=REASON_SECONDS)
        return self._error.result() if self._error.done() else ""

    async def _until(self, *, idle: bool) -> list[str]:
        tries = 0
        while True:
            try:
                return await self._follow(idle=idle)
            except RemoteError as error:
                tries += 1
                if error.category != "unreachable" or tries >= STREAM_TRIES:
                    raise
                logger.info("the stream of events was lost: %s", error)

    async def _follow(self, *, idle: bool) -> list[str]:
        async with aclosing(self._call.events()) as events:
            async for event in events:
                if event.type == "server.connected":
                    self._family = await family(self._call, self._session_id)
                    self.open.set()
                await self._tell(event)
                if event.type in LOOKS:
                    requests = await pending(self._call, self._family)
                    if requests or (idle and await self._idle()):
                        return requests
        raise RemoteError("unreachable", "The stream of events ended.")

    async def _idle(self) -> bool:
        states: dict[str, dict[str, Any]] = await self._call.get("/session/status")
        return bool(states.get(self._session_id, {}).get("type", "idle") == "idle")

    async def _tell(self, event: Event) -> None:
        given = event.properties
        if event.type == "session.error" and event.session_id == self._session_id and not self._error.done():
            self._error.set_result(error_text(given.get("error") or {}))
        if event.type == "session.created" and (given["info"].get("parentID") in self._family):
            self._family.add(given["info"]["id"])
        subject = event.session_id or (given.get("part") or given.get("info") or {}).get("sessionID", "")
        if subject in self._family and (text := self._progress.note(event)):
            await self._call.report(text)
