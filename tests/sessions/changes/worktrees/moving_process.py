"""Move a session and end by SIGKILL at a point, or do what a start does:
`python -m … DATABASE HOME ACTION [SESSION POINT]`."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"

from django.conf import settings

if __name__ == "__main__":
    database, home, action, *rest = sys.argv[1:]
    settings.DATABASES["default"]["NAME"] = database
    settings.SNAPSHOT_DIR, settings.WORKTREE_DIR = Path(home) / "snapshots", Path(home) / "worktrees"
    django.setup()

from sessions.changes.operations import engine
from sessions.changes.undo import apply
from sessions.changes.worktrees import forking, moving
from sessions.core.db import in_db
from sessions.core.store import operations
from sessions.core.store import sessions as session_store


def die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def first_only(really: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        really(*args, **kwargs)
        die()

    return wrapped


POINTS: dict[str, tuple[Any, str, Callable[[Any], Any]]] = {
    "the worktree is being written": (moving, "copy_file", first_only),
    "the worktree is whole": (moving, "_keep_contents", lambda _: die),
    "within the transaction": (operations, "begin", lambda _: die),
    "the rows have moved": (moving, "settle", lambda _: die),
    "one file has gone": (apply, "remove_file", first_only),
    "the files have gone": (operations, "finish", lambda _: die),
    "settled": (moving, "has_left", lambda _: die),
}


async def main() -> None:
    if action == "start":
        await engine.recover()
        await forking.recover()
        return
    session_id, point = rest
    session = await in_db(session_store.get, session_id)
    assert session is not None
    owner, name, change = POINTS[point]
    setattr(owner, name, change(getattr(owner, name)))
    await moving.move(session)


if __name__ == "__main__":
    asyncio.run(main())
