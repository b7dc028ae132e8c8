"""What plugins add to the environment of a terminal: `shell.env`, which is then of no session and no call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from agents.plugins.hooks import trigger
from sessions.models import Session
from sessions.terminals.environment import set_overlay


def register(loop: asyncio.AbstractEventLoop) -> None:
    """Ask the plugins from now on, on the loop that they are loaded on; terminals run on another one."""

    async def overlay(project_id: str, directory: Path, cwd: Path) -> Mapping[str, str]:
        asked = asyncio.run_coroutine_threadsafe(_variables(project_id, directory, cwd), loop)
        return await asyncio.wrap_future(asked)

    set_overlay(overlay)


async def _variables(project_id: str, directory: Path, cwd: Path) -> Mapping[str, str]:
    place = Session(id="", project_id=project_id, directory=str(directory))
    made = await trigger(place, "shell.env", {"cwd": str(cwd)}, {"env": {}})
    variables: Mapping[str, str] = made["env"]
    return variables
