"""One server for one data folder: a second one would hear nothing of what the first one does.

Servers and workers that a Redis joins share the folder; so the lock is theirs together, or one server's.
The kernel keeps it, and drops it with the process.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Mapping
from pathlib import Path

PRIVATE = "OPENCODE_WEB_PRIVATE"
"""Set for a server that one client starts for itself, and that nobody else talks to: it may stand beside."""
PATIENCE = 2.0
"""Seconds. What a killed server was just about to start holds its lock until execve(2) closes it."""
_held: list[int] = []


class Held(Exception):
    """Another server has the folder; the text says which."""


def hold(folder: Path, name: str, environ: Mapping[str, str]) -> None:
    """Keep the data folder until the process ends; `name` tells the next one who has it. Raises Held."""
    if environ.get(PRIVATE):
        return
    file = os.open(folder / "server.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    kind = fcntl.LOCK_SH if environ.get("REDIS_URL") else fcntl.LOCK_EX
    try:
        _lock(file, kind)
    except OSError as error:
        other = os.read(file, 1000).decode(errors="replace").strip() or "another process"
        os.close(file)
        raise Held(
            f"{other} already uses {folder}, and two that hear nothing of each other cannot share it: "
            "open that one, end it, set REDIS_URL for both, or give this one another XDG_DATA_HOME"
        ) from error
    os.ftruncate(file, 0)
    os.write(file, f"{name}\n".encode())
    _held.append(file)


def _lock(file: int, kind: int) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
