"""`python -m tests.runtime.undoing` takes orders, one JSON a line, and carries each out in its own process.

An order names an action of `ACTIONS`, and may name the point at which that process ends itself by SIGKILL in
the middle of the real code. The answer is a line of JSON: what the action returned, or the signal.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import django

os.environ["DJANGO_SETTINGS_MODULE"] = "opencode_web.settings"
django.setup()

from django.core.management import call_command  # noqa: E402

from sessions.changes.operations import conversation, hunks  # noqa: E402
from sessions.changes.operations.conversation import Choice  # noqa: E402
from sessions.changes.operations.engine import recover  # noqa: E402
from sessions.changes.review.verdicts import Scope, listing  # noqa: E402
from sessions.core.db import in_db  # noqa: E402
from sessions.core.models import Operation, Session  # noqa: E402
from sessions.core.store import leases  # noqa: E402
from tests.runtime.crashing import die  # noqa: E402
from tests.sessions.changes.review.world import World  # noqa: E402

Function = Callable[..., Any]
LINES = [f"line {number}\n" for number in range(40)]


def dying(number: int, before: bool, whole: bool = True) -> Callable[[Function], Function]:
    """A function that ends the process at its n-th call: before it, or after it. Not `whole` is after it was
    given half of the bytes."""
    calls = iter(range(1, sys.maxsize))

    def change(function: Function) -> Function:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            if next(calls) < number:
                return function(*args, **kwargs)
            if not before:
                function(*(args if whole else [_half(value) for value in args]), **kwargs)
            return die()

        return wrapped

    return change


def _half(value: Any) -> Any:
    return value[: len(value) // 2] if isinstance(value, bytes) else value


POINTS: dict[str, tuple[str, bool, bool]] = {
    "before begin": ("sessions.core.store.operations.begin", True, True),
    "after begin": ("sessions.core.store.operations.begin", False, True),
    "before a file": ("sessions.changes.undo.apply._apply_file", True, True),
    "after a file": ("sessions.changes.undo.apply._apply_file", False, True),
    "with folders made": ("sessions.changes.undo.files._replace", True, True),
    "within the temporary file": ("sessions.changes.undo.files._create", False, False),
    "before the rename": ("sessions.changes.undo.files._create", False, True),
    "before the folders go": ("sessions.changes.undo.apply._tidy", True, True),
    "before it is settled": ("sessions.core.store.operations.finish", True, True),
    "while it is settled": ("sessions.core.store.operations.announce", False, True),
    "after it was settled": ("sessions.core.store.operations.finish", False, True),
}
"""Where it ends: a function, before it or after it, and whether that was given all of the bytes."""


def arm(point: str, number: int) -> None:
    where, before, whole = POINTS[point]
    owner, _, name = where.rpartition(".")
    module = sys.modules[owner]
    setattr(module, name, dying(number, before, whole)(getattr(module, name)))


def contents(path: str, number: int) -> str | None:
    """What the agent makes of one of fifty files: changed, removed, or new in new folders."""
    if number < 25:
        return "".join(LINES).replace("line 5\n", f"line five of {path}\n").replace("line 30\n", "")
    return None if number < 35 else f"made {number}\n" * 50


async def turn() -> dict[str, str]:
    """A turn that changes fifty files; afterwards the person writes into some of them."""
    await in_db(call_command, "migrate", verbosity=0)
    folder = Path(os.environ["PROJECT"])
    world = await World.open(folder)
    names = [f"f{n}.txt" if n < 35 else f"new/{n % 3}/f{n}.txt" for n in range(50)]
    for name in names[:35]:
        world.write(name, "".join(LINES), 0o755 if name == "f7.txt" else 0o644)
    session = await world.session()
    prompt = await world.turn(session, {name: contents(name, n) for n, name in enumerate(names)})
    for name in names[:10]:
        world.write(name, "mine\n" + (folder / name).read_text(), 0o755 if name == "f7.txt" else 0o644)
    return {"session": session.id, "prompt": prompt}


async def revert() -> str:
    session, prompt = await _made()
    return (await conversation.undo_from(session, prompt, None, Choice())).state


async def unrevert() -> str:
    session, _ = await _made()
    done = await conversation.bring_back(session)
    return done.state if done else ""


async def undo() -> str:
    session, prompt = await _made()
    scope = Scope("turn", prompt)
    picks = {file.key: None for file in (await listing(session, scope)).files}
    return (await hunks.undo(session, scope, picks)).state


async def redo() -> str:
    session, _ = await _made()
    last = await in_db(lambda: Operation.objects.filter(state="done").latest("id"))
    return (await hunks.redo(session, last.id)).state


async def start() -> list[list[str]]:
    """What a server does first, and how it frees the sessions of a dead process; then the log."""
    await recover()
    for session in await in_db(leases.leased):
        await in_db(leases.free, session)
    return await log()


async def log() -> list[list[str]]:
    """Kind and state of each operation, and the paths that it says it wrote or is going to write."""
    return await in_db(_log)


def _log() -> list[list[str]]:
    rows = Operation.objects.order_by("id")
    return [[row.kind, row.state, *sorted(change.path for change in row.changes.all())] for row in rows]


async def _made() -> tuple[Session, str]:
    session = await in_db(lambda: Session.objects.select_related("project").get())
    return session, await in_db(lambda: session.messages.filter(role="user").get().id)


ACTIONS: Mapping[str, Callable[[], Awaitable[Any]]] = {
    "turn": turn,
    "revert": revert,
    "unrevert": unrevert,
    "undo": undo,
    "redo": redo,
    "start": start,
    "log": log,
}


def carry_out(order: Mapping[str, Any]) -> None:
    """In a process of its own; the answer goes to standard output."""
    child = os.fork()
    if child == 0:
        if order["point"]:
            arm(order["point"], order["number"])
        answer(result=asyncio.run(_result(order["action"])))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        answer(signal=os.waitstatus_to_exitcode(status))


async def _result(action: str) -> Any:
    return await ACTIONS[action]()


def answer(**told: Any) -> None:
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    for line in sys.stdin:
        carry_out(json.loads(line))
