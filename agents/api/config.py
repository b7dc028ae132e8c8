"""`/config`, `/global/config` and `/agent` of OpenCode's API."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.errors import HttpError

from agents.api.listings import agents_of, configuration
from agents.api.shapes import AgentInfo, ConfigPatch
from agents.config.problem import Refused, Unreadable
from agents.config.schema import Config
from agents.config.writing import change
from agents.plugins.hooks import ready
from agents.servers.mcp.hub import hub
from agents.toolkit.catalog import folders_in_use
from sessions.api.base import directory_of, wire
from sessions.api.described import answers
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.store import projects

router = Router()


@router.get("/config", operation_id="config.get")
@answers(Config)
async def config(request: HttpRequest) -> HttpResponse:
    """The merged configuration; secrets are not shown."""
    return wire(await asyncio.to_thread(configuration, directory_of(request)))


@router.patch("/config", operation_id="config.update")
@answers(Config)
async def update_config(request: HttpRequest, body: ConfigPatch) -> HttpResponse:
    """Change the folder's own configuration file; the merged configuration as it then is."""
    directory = directory_of(request)
    return await _changed(directory, body.root) or await _told(directory, [directory])


@router.get("/global/config", operation_id="global.config.get")
@answers(Config)
async def global_config(request: HttpRequest) -> HttpResponse:
    """The user's own configuration, without any project's."""
    return wire(await asyncio.to_thread(configuration, None))


@router.patch("/global/config", operation_id="global.config.update")
@answers(Config)
async def update_global_config(request: HttpRequest, body: ConfigPatch) -> HttpResponse:
    """Change the user's own configuration file; the user's own configuration as it then is."""
    if refused := await _changed(None, body.root):
        return refused
    bus.publish(bus.Event("global.disposed", {}))
    return await _told(None, folders_in_use())


@router.get("/agent", operation_id="app.agents")
@answers(list[AgentInfo])
async def list_agents(request: HttpRequest) -> HttpResponse:
    directory = directory_of(request)
    await ready(directory)
    return wire(await asyncio.to_thread(agents_of, directory))


async def _changed(directory: Path | None, patch: Mapping[str, Any]) -> HttpResponse | None:
    """Write the change; an answer only where the file cannot be read. Raises HttpError (400)."""
    try:
        await asyncio.to_thread(change, directory, patch)
    except Refused as error:
        raise HttpError(400, str(error)) from error
    except Unreadable as error:
        data = {"path": str(error.file), "message": str(error)}
        return wire({"name": "ConfigJsonError", "data": data}, 400)
    await asyncio.to_thread(hub.forget, directory)
    return None


async def _told(directory: Path | None, folders: Iterable[Path]) -> HttpResponse:
    """Tell the clients of folders to read everything anew; what is in force now."""
    shown = await asyncio.to_thread(configuration, directory)
    for folder in folders:
        with suppress(OSError):  # a folder that is gone has no clients
            project = await in_db(projects.project_of, folder, look=True)
            told = {"directory": str(folder)}
            event = bus.Event("server.instance.disposed", told, project_id=project.id, directory=str(folder))
            bus.publish(event)
    return wire(shown)
