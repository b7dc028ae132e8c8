"""What a crash cut short of work on files."""

from __future__ import annotations

from sessions.changes.operations import engine
from sessions.changes.worktrees import forking


async def finish() -> None:
    """Take away worktrees that are half made, carry out what was begun of an undo; before turns are taken up,
    and before anybody asks for more of it."""
    await forking.recover()
    await engine.recover()
