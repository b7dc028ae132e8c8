"""PTY Environment (seed 002): the caller's values, the host's overlay, then what every terminal has."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

PRIVATE = frozenset(
    {
        "DATABASE_URL",
        "DJANGO_SETTINGS_MODULE",
        "OPENCODE_CONFIG_CONTENT",
        "OPENCODE_SERVER_PASSWORD",
        "REDIS_URL",
    }
)
"""This server's own: its secrets, and what would lead a Django project of the user to its settings. A caller
may still give them."""

FORCED = {"TERM": "xterm-256color", "OPENCODE_TERMINAL": "1"}

Overlay = Callable[[str, Path, Path], Awaitable[Mapping[str, str]]]
"""Of a project's id, the request's folder and the terminal's own."""


async def _nothing(project_id: str, directory: Path, cwd: Path) -> Mapping[str, str]:
    return {}


_overlay: Overlay = _nothing


def set_overlay(overlay: Overlay = _nothing) -> None:
    """Set what the host adds (the plugins, when this process runs them); nothing without an argument."""
    global _overlay
    _overlay = overlay


async def environment(
    given: Mapping[str, str], project_id: str, directory: Path, cwd: Path
) -> dict[str, str]:
    """What a terminal's program is started with; below `given` is the server's own, less what is private."""
    inherited = {name: value for name, value in os.environ.items() if name not in PRIVATE}
    return {**inherited, **given, **await _overlay(project_id, directory, cwd), **FORCED}
