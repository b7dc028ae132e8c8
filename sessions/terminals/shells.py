"""The shells of this machine (shells(5)), and the one a terminal gets that names none."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from .shapes import Shell

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
