"""`/log`, `/instance/dispose`, `/global/dispose`: the process behind the API."""

from __future__ import annotations

import json
import logging
from typing import Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router

from sessions.api.base import directory_of, project_of, wire
from sessions.api.described import answers
from sessions.core import bus, wake
from sessions.core.db import in_db
from sessions.core.store import projects
from sessions.core.wire.base import Wire

router = Router()

MOST = 10_000
"""Characters of one entry that a client writes to the log."""
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warn": logging.WARNING, "error": logging.ERROR}
_log = logging.getLogger("opencode_web.client")


class LogEntry(Wire):
    service: str
    level: Literal["debug", "info", "error", "warn"]
    message: str
    extra: dict[str, Any] | None = None


@router.post("/log", operation_id="app.log")
@answers(bool)
async def write_log(request: HttpRequest, body: LogEntry) -> HttpResponse:
    """Into this server's log, on one line."""
    extra = f" {json.dumps(body.extra)}" if body.extra else ""
    entry = f"{body.service}: {body.message}"
    shown = "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in entry[:MOST])
    _log.log(_LEVELS[body.level], "%s%s", shown, extra[:MOST])
    return wire(True)


@router.post("/instance/dispose", operation_id="instance.dispose")
@answers(bool)
async def dispose(request: HttpRequest) -> HttpResponse:
    """Have the clients of a folder begin anew, and the servers that were started for it (MCP, languages).

    There is nothing else to drop: what is kept of a folder in memory is read again when its files change.
    """
    project = await project_of(request)
    directory = str(directory_of(request))
    _disposed(project.id, directory)
    await wake.disposed(directory)  # what it tells is of the new instance
    return wire(True)


@router.post("/global/dispose", operation_id="global.dispose")
@answers(bool)
async def dispose_all(request: HttpRequest) -> HttpResponse:
    """The same for all folders."""
    for project in await in_db(projects.recent, 1000):
        _disposed(project.id, project.worktree)
    bus.publish(bus.Event("global.disposed", {}, directory="global"))
    await wake.disposed()
    return wire(True)


def _disposed(project_id: str, directory: str) -> None:
    properties = {"directory": directory}
    event = bus.Event("server.instance.disposed", properties, project_id=project_id, directory=directory)
    bus.publish(event)
