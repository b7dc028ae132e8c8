"""Leases: which worker drains a session (docs/decisions/0019). Times are the database's own, in ms.

`owner` is the name of a worker (`core.workers`), then after a colon what it is for if that is no turn.
A lease that is not free is only ever seized, and who seizes it settles what was left open.
"""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction
from django.db.models import BigIntegerField, F, Func, Q, Value

from sessions.core import fence
from sessions.core.db import in_db
from sessions.core.fence import Lease, LeaseLost, clock
from sessions.core.models import Message, Session
from sessions.core.prepared import Prepared

from . import events
from .rows import project_of

_NOW = {
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)",
    "postgresql": "CAST(EXTRACT(EPOCH FROM CLOCK_TIMESTAMP()) * 1000 AS BIGINT)",
}


class Clock(Func):
    """The database's time, so that all machines go by one clock."""

    output_field = BigIntegerField()
    template = _NOW["postgresql"]

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template=_NOW["sqlite"], **context)


def claim(session_id: str, owner: str, seconds: float) -> Lease | None:
    """Take the session's lease if it is free."""
    confirmed = clock()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_CLAIM.format(_NOW[connection.vendor]), [owner, int(seconds * 1000), session_id])
        return _taken(session_id, owner, seconds, confirmed) if cursor.rowcount else None


_CLAIM = (
    "UPDATE opencode_sessions_session"
    " SET lease_owner = %s, lease_until = {} + %s, lease_epoch = lease_epoch + 1"
    " WHERE id = %s AND lease_owner = '' AND time_deleted IS NULL"
)


def seize(session: Session, owner: str, seconds: float, *, dead: bool) -> Lease | None:
    """Take the lease from the worker that `session` names, which is dead or let it expire; None when it has
    confirmed it meanwhile, or somebody else was faster. The lease says whether that turn was to be stopped.
    """
    as_seen = Q(id=session.id, lease_owner=session.lease_owner, lease_epoch=session.lease_epoch)
    expired = Q() if dead else Q(lease_until__lt=Clock())
    with transaction.atomic():
        left = Session.objects.select_for_update().filter(id=session.id).first()
        lease = _take(as_seen & expired, session.id, owner, seconds)
        if lease is not None and left is not None:
            lease.left_stopped = is_stopped(left)
    return lease


def _take(which: Q, session_id: str, owner: str, seconds: float) -> Lease | None:
    confirmed = clock()
    with transaction.atomic():
        taken = Session.objects.filter(which).update(
            lease_owner=owner, lease_until=_until(seconds), lease_epoch=F("lease_epoch") + 1
        )
        return _taken(session_id, owner, seconds, confirmed) if taken else None


def _taken(session_id: str, owner: str, seconds: float, confirmed: float) -> Lease:
    """What was confirmed at a time of `fence.clock`."""
    [row] = _TAKEN.rows(session_id)
    if events.known_directory(session_id) != row.directory:  # another process has moved it
        events.moved(session_id, row.directory)
        project_of.cache_clear()
    return Lease(session_id, owner, row.lease_epoch, seconds, confirmed)


_TAKEN = Prepared(lambda session_id: Session.objects.filter(id=session_id).only("lease_epoch", "directory"))


def renew(owner: str, seconds: float) -> float:
    """The heartbeat of a worker: all its leases at once. The time of `fence.clock` since which they hold."""
    confirmed = clock()
    Session.objects.filter(lease_owner=owner).update(lease_until=_until(seconds))
    return confirmed


def confirm(lease: Lease) -> None:
    """Make sure of a lease. Raises LeaseLost."""
    confirmed = clock()
    if not _row(lease).update(lease_until=_until(lease.seconds)):
        raise LeaseLost(lease)
    lease.confirmed = confirmed


async def confirmed() -> None:
    """Return when the lease that this is done under stands: before a provider is asked, a command started, a
    file written. A worker that stood still asks the database. Raises LeaseLost."""
    lease = fence.current()
    if lease is not None and not lease.is_fresh:
        await in_db(confirm, lease)


def release(lease: Lease) -> None:
    """Give it back; nothing where another has taken it."""
    with connection.cursor() as cursor:
        cursor.execute(_RELEASE, [lease.session_id, lease.owner, lease.epoch])


_RELEASE = (
    "UPDATE opencode_sessions_session SET lease_owner = '', lease_until = 0"
    " WHERE id = %s AND lease_owner = %s AND lease_epoch = %s"
)


def free(session: Session) -> None:
    """Give back the lease that `session` names; its holder is gone, and nothing is left to settle."""
    as_seen = Session.objects.filter(
        id=session.id, lease_owner=session.lease_owner, lease_epoch=session.lease_epoch
    )
    as_seen.update(lease_owner="", lease_until=0)


def _row(lease: Lease) -> Any:
    return Session.objects.filter(id=lease.session_id, lease_owner=lease.owner, lease_epoch=lease.epoch)


def _until(seconds: float) -> Any:
    return Clock() + Value(int(seconds * 1000))


def leased() -> list[Session]:
    """Sessions that a worker holds, or held when it died, with whether the lease has `expired`; each before
    the ones it started."""
    rows = Session.objects.exclude(lease_owner="").select_related("project")
    return list(rows.annotate(expired=Q(lease_until__lt=Clock())).order_by("time_created", "-id"))


def adrift() -> list[str]:
    """Sessions that are at work by their rows, and nobody holds them; each before the ones it started."""
    free = Session.objects.filter(lease_owner="")
    open_ = Message.objects.filter(role="assistant", data__time__completed__isnull=True)
    found = free.filter(~Q(status={}) & ~Q(status__type="idle") | Q(id__in=open_.values("session_id")))
    return list(found.order_by("time_created", "-id").values_list("id", flat=True))


def is_for_a_purpose(owner: str) -> bool:
    """Whether a lease is held for something else than a turn, such as an undo."""
    return ":" in owner


def is_stopped(session: Session) -> bool:
    """Whether the turn under the present lease is to be stopped."""
    return bool(session.lease_owner) and session.stop_epoch == session.lease_epoch
