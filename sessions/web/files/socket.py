"""Tells a page that shows files what changes on the disk: `/ws/p/<project>/files/`.

Each message is `{"changed": [path]}`, as seen from the session that the page says it is of; an empty path is
all of the project, `.git` what git says of its files, the path of a folder beside it all of that. `{}` says
that there is nothing to say.
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
from sessions.core.models import Project
from sessions.core.models.ledger import pack_path
from sessions.core.sockets import HEARTBEAT, NOT_FOUND, UNAUTHORISED
from sessions.project.watching import ALL, changes
from sessions.web import access
from sessions.web.roots import Root, roots

MOST_PATHS = 200
"""More are told as a change of all."""
LONGEST = 64
"""Characters of an id."""

log = logging.getLogger(__name__)


class FilesSocket(AsyncWebsocketConsumer):
    """One browser tab."""

    _tasks: tuple[asyncio.Task[None], ...] = ()
    _beside: tuple[asyncio.Task[None], ...] = ()
    _project: Project | None = None

    async def connect(self) -> None:
        await self.accept()
        if not self.scope.get("principal"):
            await self.close(code=UNAUTHORISED)
            return
        project = await in_db(access.find_project, self.scope["url_route"]["kwargs"]["project_id"])
        if project is None:
            await self.close(code=NOT_FOUND)
            return
        self._project = project
        self._tasks = (
            asyncio.create_task(self._watch(Root(Path(project.worktree)))),
            asyncio.create_task(self._beat()),
        )

    async def disconnect(self, code: int) -> None:
        for task in (*self._tasks, *self._beside):
            task.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A browser says which session its page is of; the folders beside the project are those of it."""
        if self._project is None:
            return
        session = await in_db(access.find_session, self._project.id, (text_data or "")[:LONGEST])
        for task in self._beside:
            task.cancel()
        others = (await asyncio.to_thread(roots, self._project, session))[1:]
        self._beside = tuple(asyncio.create_task(self._watch(root)) for root in others)

    async def _watch(self, root: Root) -> None:
        try:
            async with aclosing(changes(root.path)) as found:
                async for paths in found:
                    seen = map(root.seen, paths if len(paths) <= MOST_PATHS else [ALL])
                    told = sorted(map(pack_path, seen))
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
