"""What one Session Drain holds in memory while it runs; everything durable is in rows."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sessions.models import Session
from sessions.tracking import Tracker


@dataclass(slots=True)
class Run:
    """`abort` is set when the turn is stopped; `background` are tasks that end with the drain."""

    session: Session
    tracker: Tracker
    abort: asyncio.Event = field(default_factory=asyncio.Event)
    background: set[asyncio.Task[Any]] = field(default_factory=set)
    error: dict[str, Any] | None = None
    """What ended the present turn, as the wire has errors; None while all is well."""
    rejected: bool = False
    """The user rejected a call without words: the turn ends after this step."""

    @property
    def directory(self) -> Path:
        return Path(self.session.directory)

    @property
    def worktree(self) -> Path:
        return self.tracker.worktree

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run something beside the steps; it is cancelled if it outlives the drain."""
        task = asyncio.get_running_loop().create_task(work)
        self.background.add(task)
        task.add_done_callback(self.background.discard)
        return task
