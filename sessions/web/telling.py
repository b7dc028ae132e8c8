"""A socket by which a page is told of what happens."""

from __future__ import annotations

import asyncio
import logging

from channels.generic.websocket import AsyncWebsocketConsumer

from sessions.core.sockets import UNAUTHORISED

log = logging.getLogger(__name__)


class TellingSocket(AsyncWebsocketConsumer):
    """One browser tab, to which `_stream` sends until it is closed. The guard has authenticated and checked
    the Origin."""

    _task: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        await self.accept()
        if not self.scope.get("principal"):
            await self.close(code=UNAUTHORISED)
            return
        self._task = asyncio.create_task(self._run())

    async def disconnect(self, code: int) -> None:
        if self._task is not None:
            self._task.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A browser only listens; what it does goes by HTTP, where the guard checks every request."""

    async def _stream(self) -> None:
        raise NotImplementedError

    async def _run(self) -> None:
        try:
            await self._stream()
        except Exception:
            log.exception("%s failed", type(self).__name__)
            await self.close(code=1011)
