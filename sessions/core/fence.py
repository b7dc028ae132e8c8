"""The fence of a lease: whoever lost a session to another worker writes nothing more into it.

A lease has an epoch, which each taking of it raises. `fenced` marks the work that is done under one; all
that is started within it, tasks and threads too, carries the mark. `core.db.in_db` takes it to the ORM's
thread, where each transaction that writes looks whether the row still has this owner and epoch
(docs/decisions/0019): at its first write, or before its end where something looks anyway (`at_the_end`).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import connection, transaction

T = TypeVar("T")
_CLOCK: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_WRITES = ("INSERT", "UPDATE", "DELETE")
_HELD = "SELECT 1 FROM opencode_sessions_session WHERE id = %s AND lease_owner = %s AND lease_epoch = %s"


class LeaseLost(Exception):
    """Another worker has the session by now: what was to be written is not, and the drain ends."""

    def __init__(self, lease: Lease) -> None:
        super().__init__(
            f"the lease of session {lease.session_id} (epoch {lease.epoch}) was taken by another"
        )


@dataclass(slots=True, eq=False)
class Lease:
    """The right to work in a session. `seconds` is how long it holds without being confirmed, `confirmed` the
    time of `clock` when it last was. Once `over`, it was given back in order and what was started under it
    needs it no more. `left_stopped`: it was seized, and the turn under the one before was to be stopped."""

    session_id: str
    owner: str
    epoch: int
    seconds: float
    confirmed: float = field(default_factory=lambda: clock())
    over: bool = False
    left_stopped: bool = False
    numbered: int = 0
    """The events that were logged under it and count within the session."""

    @property
    def is_fresh(self) -> bool:
        """Whether nobody can have taken it meanwhile, by this process's own clock."""
        return clock() < self.confirmed + self.seconds


def clock() -> float:
    """Seconds that go on while the machine sleeps, and do not jump."""
    return time.clock_gettime(_CLOCK)


_lease: ContextVar[Lease | None] = ContextVar("lease", default=None)


@contextmanager
def fenced(lease: Lease) -> Iterator[None]:
    """What is done and started in this block is done under the lease."""
    token = _lease.set(lease)
    try:
        yield
    finally:
        _lease.reset(token)


@contextmanager
def unfenced() -> Iterator[None]:
    """For what is so whoever has the session by now: what a call did to files, or did not do after all."""
    token = _lease.set(None)
    try:
        yield
    finally:
        _lease.reset(token)


def current() -> Lease | None:
    """The lease that this is done under; None outside of any, and when it is over."""
    lease = _lease.get()
    return None if lease is None or lease.over else lease


def epoch(session_id: str) -> int:
    """Its epoch where it is this session's lease, else 0."""
    lease = current()
    return lease.epoch if lease is not None and lease.session_id == session_id else 0


def count(session_id: str, events: int) -> None:
    """So many more events that count within a session were logged."""
    lease = current()
    if lease is not None and lease.session_id == session_id:
        lease.numbered += events


def is_fresh() -> bool:
    """Whether nobody can have taken the lease that this is done under, if it is under any."""
    lease = current()
    return lease is None or lease.is_fresh


def require() -> None:
    """For what acts outside of the database and cannot wait for it. Raises LeaseLost when somebody may have
    taken the lease."""
    lease = current()
    if lease is not None and not lease.is_fresh:
        raise LeaseLost(lease)


def guarded(lease: Lease, work: Callable[[], T]) -> T:
    """Do what uses the ORM in this thread under a lease. Raises LeaseLost."""
    with fenced(lease), connection.execute_wrapper(_Fence(lease)):
        return work()


class _Late(threading.local):
    """`writes`: something was written since the look was put off; None where it is not put off."""

    writes: bool | None = None


_late = _Late()


@contextmanager
def at_the_end() -> Iterator[None]:
    """For the rest of a transaction: its writes need not look before the end of this block, when nothing
    is committed yet. Raises LeaseLost."""
    if _late.writes is not None:
        yield
        return
    _late.writes = False
    try:
        yield
        due = _late.writes
    finally:
        _late.writes = None
    fence = _Fence.now()
    if due and fence is not None:
        fence.look()


def condition() -> tuple[str, Sequence[Any]]:
    """For the end of an `INSERT … SELECT` that looks itself, with its parameters: it inserts only under the
    lease. Nothing where there is none, or where it was looked at."""
    fence = _Fence.now()
    if fence is None or fence.has_looked:
        return "", ()
    return f" WHERE EXISTS ({_HELD})", fence.lease_of_row


def looked(*, held: bool) -> None:
    """What the transaction's own statement said of the lease. Raises LeaseLost where it is not held."""
    fence = _Fence.now()
    if fence is not None:
        fence.note(held=held)


def seen(session_id: str, owner: str, epoch: int) -> None:
    """The row of a session, as it was read in a transaction and stays until its end. Raises LeaseLost where
    it is that of the lease, and another's."""
    fence = _Fence.now()
    if fence is not None and fence.lease_of_row[0] == session_id and connection.in_atomic_block:
        fence.note(held=fence.lease_of_row == (session_id, owner, epoch))


class _Fence:
    """For `connection.execute_wrapper`: every transaction that writes looks at the lease once, and raises
    LeaseLost instead of writing past another's."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self.lease_of_row = (lease.session_id, lease.owner, lease.epoch)

    @staticmethod
    def now() -> _Fence | None:
        """That of the connection."""
        return next((each for each in connection.execute_wrappers if isinstance(each, _Fence)), None)

    def __call__(
        self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
    ) -> Any:
        if not sql.lstrip()[:6].upper().startswith(_WRITES):
            return execute(sql, params, many, context)
        if connection.in_atomic_block:
            if _late.writes is None:
                self.look()
            else:
                _late.writes = True
            return execute(sql, params, many, context)
        with transaction.atomic():
            self.look()
            result = execute(sql, params, many, context)
            cursor = context["cursor"]
            if cursor.description is not None:
                cursor.cursor = _Read(cursor.cursor)
            return result

    def look(self) -> None:
        """Once in a transaction."""
        if self.has_looked:
            return
        with connection.cursor() as cursor:
            cursor.execute(_HELD, self.lease_of_row)
            self.note(held=cursor.fetchone() is not None)

    @property
    def has_looked(self) -> bool:
        """In this transaction: that it was done is forgotten with it."""
        return any(callback == self._looked for _, callback, *_ in connection.run_on_commit)

    def note(self, *, held: bool) -> None:
        if not held:
            raise LeaseLost(self._lease)
        if not self.has_looked:
            transaction.on_commit(self._looked)

    def _looked(self) -> None:
        """Stands among the callbacks of a transaction that was looked at."""


class _Read:
    """A cursor whose rows were read: SQLite commits nothing while a statement (`… RETURNING`) has more."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self._rows = deque(cursor.fetchall())

    def fetchone(self) -> Any:
        return self._rows.popleft() if self._rows else None

    def fetchall(self) -> list[Any]:
        rows = list(self._rows)
        self._rows.clear()
        return rows

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cursor, name)
