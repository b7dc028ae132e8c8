"""Tells a page that shows files what changes on the disk: `/ws/p/<project>/files/`.

Each message is `{"changed": [path]}`, relative to the worktree; an empty path is all of it, `.git` what git
says of files. `{}` says that there is nothing to say.
"""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import aclosing
from pathlib import Path
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.urls import path

from sessions.core.db import in_db
from sessions.core.models.ledger import pack_path
from sessions.core.sockets import HEARTBEAT, NOT_FOUND, UNAUTHORISED
from sessions.project.watching import ALL, changes
from sessions.web import access

MOST_PATHS = 200
"""More are told as a change of all."""

log = logging.getLogger(__name__)


class FilesSocket(AsyncWebsocketConsumer):
    """One browser tab."""

    _tasks: tuple[asyncio.Task[None], ...] = ()

    async def connect(self) -> None:
        await self.accept()
        if not self.scope.get("principal"):
            await self.close(code=UNAUTHORISED)
            return
        project = await in_db(access.find_project, self.scope["url_route"]["kwargs"]["project_id"])
        if project is None:
            await self.close(code=NOT_FOUND)
            return
        self._tasks = (
            asyncio.create_task(self._watch(Path(project.worktree))),
            asyncio.create_task(self._beat()),
        )

    async def disconnect(self, code: int) -> None:
        for task in self._tasks:
            task.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A browser only listens."""

    async def _watch(self, directory: Path) -> None:
        try:
            async with aclosing(changes(directory)) as found:
                async for paths in found:
                    told = sorted(map(pack_path, paths)) if len(paths) <= MOST_PATHS else [ALL]
                    await self.send(text_data=json.dumps({"changed": told}))
        except Exception:
            log.exception("files of a page are no longer watched")
            await self.close(code=1011)

    async def _beat(self) -> None:
        while True:
            await self.send(text_data="{}")
            await asyncio.sleep(HEARTBEAT)


_application: Any = FilesSocket.as_asgi()  # as in sessions.web.socket
websocket_urlpatterns = [path("ws/p/<str:project_id>/files/", _application)]
