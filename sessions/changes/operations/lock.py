"""Keep everybody else away while an operation runs: others in the project, turns in the session."""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from django.utils.translation import gettext

from sessions.core.db import in_db
from sessions.core.fence import Lease, LeaseLost
from sessions.core.gate import gate
from sessions.core.models import Session
from sessions.core.store import inbox, leases, ledger
from sessions.core.store import sessions as session_store
from sessions.core.wake import wake
from sessions.core.workers import this_process

P = ParamSpec("P")
T = TypeVar("T")

LEASE_SECONDS = 60.0
_TRIES, _VERDICT_TRIES, _PAUSE = 20, 100, 0.05


class Refused(Exception):
    """An operation that cannot be done now; the text is for the person who asked. `outcome` has the
    files that were to be written, if it came so far."""

    def __init__(self, words: str, outcome: Sequence[Mapping[str, Any]] = ()) -> None:
        super().__init__(words)
        self.outcome = outcome


class ProjectBusy(Refused):
    """Another operation runs in the project, in this process or another."""


@contextmanager
def project_locks(project_ids: Iterable[str]) -> Iterator[None]:
    """Those of several, in the order of their ids. Raises ProjectBusy, having kept none."""
    with ExitStack() as stack:
        for project_id in sorted(set(project_ids)):
            stack.enter_context(project_lock(project_id))
        yield


@contextmanager
def project_lock(project_id: str) -> Iterator[None]:
    """Held by one operation at a time; ends with the process. Raises ProjectBusy."""
    folder = Path(settings.SNAPSHOT_DIR) / project_id
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / "undo.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise ProjectBusy(
            gettext("Another undo or redo is running in this project. Try again in a moment.")
        ) from error
    finally:
        os.close(descriptor)


@asynccontextmanager
async def its_turn(*project_ids: str) -> AsyncIterator[None]:
    """The projects' locks for a verdict, which waits a while for the one before it. Raises ProjectBusy, and
    Refused where a project is closed."""
    await _require_open(*project_ids)
    with ExitStack() as stack:
        for attempt in range(_VERDICT_TRIES):
            try:
                stack.enter_context(project_locks(project_ids))
                break
            except ProjectBusy:
                if attempt == _VERDICT_TRIES - 1:
                    raise
            await asyncio.sleep(_PAUSE)
        yield


async def in_turn(project_id: str, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Do blocking work under the project's lock, in a thread. Once begun it is carried through, also when the
    caller is cancelled. Raises ProjectBusy."""
    return await in_turn_of((project_id,), work, *args, **kwargs)


async def in_turn_of(
    project_ids: Collection[str], work: Callable[P, T], *args: P.args, **kwargs: P.kwargs
) -> T:
    """The same under the locks of several."""

    async def run() -> T:
        async with its_turn(*project_ids):
            return await asyncio.to_thread(work, *args, **kwargs)

    return await asyncio.shield(run())


@asynccontextmanager
async def alone(session: Session) -> AsyncIterator[None]:
    """Take the session's lease and the locks of all projects that it changed. Raises Refused."""
    await _require_open(session.project_id)
    with project_lock(session.project_id):
        async with leased(session):
            others = await in_db(ledger.projects_of, session) - {session.project_id}
            with project_locks(others):
                yield


async def _require_open(*project_ids: str) -> None:
    for project_id in project_ids:
        if closed := (await in_db(gate, project_id)).closed:
            raise Refused(closed)


@asynccontextmanager
async def leased(session: Session) -> AsyncIterator[None]:
    """Take the session's lease: no turn runs meanwhile. Raises Refused."""
    owner = f"{this_process().name}:undo-{secrets.token_hex(4)}"
    lease = await _take_lease(session.id, owner)
    renewing = asyncio.create_task(_renewed(lease))
    try:
        yield
    finally:
        renewing.cancel()
        await in_db(leases.release, lease)
        if any(row.resume for row in await in_db(inbox.waiting, session.id)):
            await wake(session.id)


async def _renewed(lease: Lease) -> None:
    """Until cancelled: an undo of much takes as long as it takes."""
    with suppress(LeaseLost):
        while True:
            await asyncio.sleep(lease.seconds / 3)
            await in_db(leases.confirm, lease)


def left_by_undo(lease_owner: str) -> bool:
    """Whether a lease was taken by `alone`."""
    return lease_owner.rpartition(":")[2].startswith("undo-")


async def _take_lease(session_id: str, owner: str) -> Lease:
    """The lease of a turn that has just ended goes a moment after its status, where more prompts waited."""
    for _ in range(_TRIES):
        if lease := await in_db(leases.claim, session_id, owner, LEASE_SECONDS):
            return lease
        row = await in_db(session_store.get, session_id)
        if row is None or row.status.get("type", "idle") != "idle":
            break
        await asyncio.sleep(_PAUSE)
    raise Refused(gettext("Stop the turn first: its changes cannot be undone while it makes more."))
