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


POINTS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "within promotion": ("sessions.store.messages", "put_parts", lambda _: die),
    "promoted": ("agents.runtime.boundary", "_remember", lambda _: die),
    "before a tool runs": ("agents.runtime.calls.calls.Calls", "_execute", lambda _: die),
    "before a tool settles": ("agents.runtime.calls.calls.Calls", "_succeeded", lambda _: die),
    "compaction promoted": ("agents.runtime.drain", "compact", lambda _: die),
    "compacted": ("agents.runtime.steps.transcript.Transcript", "forget", lambda _: die),
    "keep noted": ("sessions.staging.settling", "_write", lambda _: die),
    "one file kept": ("sessions.staging.settling", "apply", first_only),
    "files kept": ("sessions.store.kept", "finish", lambda _: die),
    "within an undo": ("sessions.undo.files", "_replace", lambda _: die),
    "settled": ("agents.runtime.steps.recorder.Recorder", "finished", dying_after),
}
"""Where it ends: an object by its dotted name, an attribute of it, and what takes that attribute's place."""


async def begin() -> None:
    """The server's startup, with the point armed before the first turn."""
    from django.utils.module_loading import import_string

    from opencode_web import background

    owner, name, change = POINTS[os.environ["CRASH_AT"]]
    holder = sys.modules.get(owner) or import_string(owner)
    setattr(holder, name, change(getattr(holder, name)))
    await background.start()


if __name__ == "__main__":
    start.STARTUP = "tests.runtime.crashing.begin"
    sys.exit(main())
