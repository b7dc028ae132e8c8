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

from sessions.core import variables

PRIVATE = variables.PRIVATE.name
OWN = frozenset({"DJANGO_SETTINGS_MODULE", *(each.name for each in variables.every() if each.own)})
"""Variables of this server alone, which no program that it starts is given: its secrets, what would lead a
Django project of the user to its settings, and what would make another server one of its kind."""
PATIENCE = 2.0
"""Seconds. What a killed server was just about to start holds its lock until execve(2) closes it."""
_held: list[int] = []


_LOCK = "server.lock"


class Held(Exception):
    """Another server has the folder; the text says which, `url` where it is (empty for a worker)."""

    def __init__(self, text: str, url: str) -> None:
        super().__init__(text)
        self.url = url


def hold(folder: Path, name: str, environ: Mapping[str, str], url: str = "") -> None:
    """Keep the data folder until the process ends; `name` tells the next one who has it, and `url` where this
    machine reaches it. Raises Held."""
    if variables.PRIVATE.read(environ):
        return
    file = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    kind = fcntl.LOCK_SH if variables.REDIS_URL.read(environ) else fcntl.LOCK_EX
    try:
        _lock(file, kind)
    except OSError as error:
        other, where = _read(file)
        os.close(file)
        words = (
            f"{other or 'another process'} already uses {folder}, and two that hear nothing of each other "
            "cannot share it: open that one, end it, set REDIS_URL for both, or give this one another "
            "XDG_DATA_HOME"
        )
        raise Held(words, where) from error
    os.ftruncate(file, 0)
    os.write(file, f"{name}\n{url}\n".encode())
    _held.append(file)


def server(folder: Path) -> str:
    """Where the server is that has a data folder now; empty where none has it. What a server that ended has
    left is not believed: somebody else may listen there."""
    try:
        file = os.open(folder / _LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return _read(file)[1]
    finally:
        os.close(file)
    return ""


def _read(file: int) -> tuple[str, str]:
    """Who has it, and where that one is."""
    name, url, *_ = [*os.pread(file, 1000, 0).decode(errors="replace").split("\n"), "", ""]
    return name.strip(), url.strip()


def _lock(file: int, kind: int) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
