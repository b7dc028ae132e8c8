"""The shells of this machine (shells(5)), and the one a terminal gets that names none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from sessions.core import variables
from sessions.core.holding import OWN
from sessions.core.platform import search_path
from sessions.terminals.shapes import Shell

_LIST = Path("/etc/shells")
_LOGIN = frozenset({"ash", "bash", "dash", "fish", "ksh", "mksh", "sh", "yash", "zsh"})
"""Shells that take `-l`."""
_NOT_POSIX = frozenset({"fish", "nu"})


def shells() -> list[Shell]:
    """`acceptable`: whether the agent's commands, written for a POSIX shell, run in it too."""
    found = dict.fromkeys(path for path in _listed() if os.access(path, os.X_OK))
    return [
        Shell(path=path, name=Path(path).name, acceptable=Path(path).name not in _NOT_POSIX) for path in found
    ]


def default_shell() -> str:
    """The user's own, else bash, else what POSIX has."""
    own = os.environ.get("SHELL", "")
    return own if os.access(own, os.X_OK) else shutil.which("bash") or "/bin/sh"


def login_arguments(command: str) -> list[str]:
    """What makes a login shell of a command, as terminals are; nothing for what is no shell."""
    return ["-l"] if Path(command).name in _LOGIN else []


def _listed() -> list[str]:
    try:
        lines = _LIST.read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = [default_shell(), "/bin/sh"]
    return [line.strip() for line in lines if line.startswith("/")]


PRIVATE = OWN | {"DATABASE_URL"}
"""A caller may still give them."""

FORCED = {"TERM": "xterm-256color", variables.TERMINAL.name: "1"}

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
    inherited["PATH"] = search_path.persons()
    return {**inherited, **given, **await _overlay(project_id, directory, cwd), **FORCED}
