"""`python -m tests.runtime.crashing serve …` is the server, which kills itself at the point CRASH_AT names.

The process ends by SIGKILL in the middle of the real code.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from opencode_web.cli import main, start


def die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def dying_after(function: Callable[..., Any]) -> Callable[..., Any]:
    async def wrapped(*args: Any, **kwargs: Any) -> Any:
        await function(*args, **kwargs)
        die()

    return wrapped


def first_only(apply: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(plan: Any, *args: Any, **kwargs: Any) -> Any:
        apply(plan[:1], *args, **kwargs)
        die()

    return wrapped


class _Dying:
    """Of a module: whatever of it is called."""

    def __getattr__(self, name: str) -> Any:
        return die


POINTS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "within promotion": ("sessions.core.store.messages", "_put_parts", lambda _: die),
    "promoted": ("agents.agent.boundary", "_remember", lambda _: die),
    "before a tool runs": ("agents.agent.calls.calls.Calls", "_execute", lambda _: die),
    "before a tool settles": ("agents.agent.calls.calls.Calls", "_succeeded", lambda _: die),
    "compaction promoted": ("agents.agent.drain", "compact", lambda _: die),
    "compacted": ("agents.agent.steps.history.Transcript", "forget", lambda _: die),
    "keep noted": ("sessions.changes.operations.engine", "_write", lambda _: die),
    "one file kept": ("sessions.changes.operations.engine", "apply", first_only),
    "files kept": ("sessions.core.store.operations", "finish", lambda _: die),
    "within an undo": ("sessions.changes.undo.apply", "remove_file", lambda _: die),
    "a turn goes on": ("agents.agent.resumption", "begin", dying_after),
    "a goal's turn ended": ("agents.agent.drain", "pursue", lambda _: die),
    "a goal's checks begin": ("agents.agent.goals.pursuit", "check", lambda _: die),
    "a goal's checks ended": ("agents.agent.goals.judge", "opinion", lambda _: die),
    "within a verdict": ("sessions.core.store.goals", "_count", lambda _: die),
    "a verdict written": ("agents.agent.goals.pursuit", "_judge", dying_after),
    "a time claimed": ("agents.agent.schedules.running", "begin", lambda _: die),
    "within a run's begin": ("sessions.core.store.schedules", "presets", lambda _: _Dying()),
    "a run begun": ("agents.agent.schedules.running", "wake", lambda _: die),
    "a run's worktree made": ("agents.agent.schedules.running", "recorded", lambda _: die),
    "a run's worktree kept": ("agents.agent.schedules.running", "recorded", dying_after),
    "a run ended": ("sessions.core.store.schedules", "end", lambda _: die),
    "an attempt claimed": ("agents.agent.comparisons.beginning", "_begin", lambda _: die),
    "an attempt's worktree made": ("agents.agent.comparisons.beginning", "_kept", lambda _: die),
    "within an attempt's beginning": ("sessions.core.store.comparisons", "_short", lambda _: die),
    "an attempt begun": ("agents.agent.comparisons.beginning", "_kept", dying_after),
    "an attempt's turn ended": ("agents.agent.drain", "measure", lambda _: die),
    "an attempt's checks begin": ("agents.agent.goals.checks", "run", lambda _: die),
    "within a measure": ("sessions.core.store.comparisons", "_worked", lambda _: die),
    "a measure written": ("agents.agent.comparisons.measuring", "_write", dying_after),
    "the judge is asked": ("agents.agent.comparisons.judging", "asked", lambda _: die),
    "within a judgement": ("sessions.core.store.comparisons", "_finish", lambda _: die),
    "settled": ("agents.agent.steps.recorder.Recorder", "finished", dying_after),
}
"""Where it ends: an object by its dotted name, an attribute of it, and what takes that attribute's place."""


async def begin() -> None:
    """The server's startup, with the point armed before the first turn."""
    from django.utils.module_loading import import_string

    from opencode_web.site import background

    owner, name, change = POINTS[os.environ["CRASH_AT"]]
    holder = sys.modules.get(owner) or import_string(owner)
    setattr(holder, name, change(getattr(holder, name)))
    await background.start()


if __name__ == "__main__":
    start.begin = begin
    sys.exit(main())
