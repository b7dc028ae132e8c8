"""Sessions: create, rename, pin, archive, delete with undo, status, whether they were read."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from django.db import transaction

from sessions.core import fence
from sessions.core.db import durable
from sessions.core.ids import descending, now
from sessions.core.models import Project, Session
from sessions.core.prepared import Insert, Prepared, Update
from sessions.core.wire.messages import ABORTED
from sessions.core.wire.session import SessionModel, Status
from sessions.core.wire.version import VERSION

from . import events, lists, notifiers, projects, switches
from .rows import session_wire

_USED = "(SELECT CASE WHEN MAX(used) >= %s THEN MAX(used) + 1 ELSE %s END FROM opencode_sessions_session)"
"""After every other use, also when the clock was put back since: the database knows when it writes. Twice of
the moment (ms)."""
_new, _changed = Insert(Session, {"used": _USED}), Update(Session, {"used": _USED})
_told = Update(Session)


def create(
    project: Project,
    directory: str,
    *,
    title: str = "",
    parent: str | None = None,
    permission: list[dict[str, Any]] | None = None,
    agent: str = "",
    model: SessionModel | None = None,
    metadata: dict[str, Any] | None = None,
    id: str = "",
) -> Session:
    """A new session; without a title it gets one that the small model replaces."""
    moment = now()
    preset, folders = _inherited(parent) if parent else ("", [])
    row = Session(
        id=id or descending("ses"),
        project=project,
        parent_id=parent,
        directory=directory,
        slug=secrets.token_hex(4),
        title=title or ("Child session" if parent else "New session"),
        titled=bool(title),
        version=VERSION,
        agent=agent,
        provider_id=model.provider_id if model else "",
        model_id=model.id if model else "",
        variant=(model.variant or "") if model else "",
        permission=permission or [],
        metadata=metadata,
        preset=preset,
        folders=folders,
        time_created=moment,
        time_updated=moment,
    )
    with transaction.atomic():
        _new.put([row], used=[moment, moment])
        projects.used(project, moment)
        events.moved(row.id, directory)
        announce("session.created", row)
    return row


BY_HAND = "Edits by hand"
"""The title of a session in which nobody has asked for anything yet: what is done to a project outside of any
session has to belong to one."""


def by_hand(project: Project) -> Session:
    """That session of a project, which may be a new one."""
    unused = listing(project, roots=True, limit=20)
    found = next((row for row in unused if row.title == BY_HAND and not row.messages.exists()), None)
    return found or create(project, project.worktree, title=BY_HAND)


def _inherited(session_id: str) -> tuple[str, list[dict[str, str]]]:
    """The preset and the added folders that a session gives to those it starts."""
    found = Session.objects.filter(id=session_id).values_list("preset", "folders").first()
    return found or ("", [])


_GET = Prepared(
    lambda session_id: Session.objects.filter(id=session_id, time_deleted=None).select_related("project")
)
_ANY = Prepared(lambda session_id: Session.objects.filter(id=session_id))
_LOCKED = Prepared(lambda session_id: Session.objects.select_for_update().filter(id=session_id))


def get(session_id: str) -> Session | None:
    """A session that is not deleted, with its project."""
    return _GET.first(session_id)


_THERE = Prepared(lambda session_id: Session.objects.filter(id=session_id, time_deleted=None).only("id"))


def exists(session_id: str) -> bool:
    """Whether there is such a session, that is not deleted."""
    return bool(_THERE.rows(session_id))


def listing(project: Project | None = None, *, limit: int = 100, **wanted: Any) -> list[Session]:
    """Sessions that are not deleted, the last used first (see `lists.matching` for what may be wanted)."""
    return list(lists.matching(project, **wanted)[:limit])


def at_work(project_id: str | None = None) -> dict[str, Any]:
    """The status of every session, of a project or of all, that is not idle: a turn runs, or a prompt was
    taken that begins one by itself."""
    known = Session.objects.filter(time_deleted=None)
    rows = known.filter(project_id=project_id) if project_id is not None else known
    waits = rows.filter(inbox__resume=True).values_list("id", flat=True)
    states = rows.exclude(status__type="idle").values_list("id", "status")
    return {
        **dict.fromkeys(waits, Status(type="busy").wire()),
        **{id: status for id, status in states if status},
    }


def update(session_id: str, **columns: Any) -> Session | None:
    """Change columns (title, archive time, agent, revert, …) and tell everybody; None when it is gone."""
    with events.together():
        row = _locked(session_id)
        return row and change(row, **columns)


def locked(session_id: str) -> Session:
    """The row, which nobody else changes until the transaction ends. Raises Session.DoesNotExist."""
    row = _locked(session_id)
    if row is None:
        raise Session.DoesNotExist(session_id)
    return row


def _locked(session_id: str) -> Session | None:
    row = _LOCKED.first(session_id)
    if row is not None:
        fence.seen(row.id, row.lease_owner, row.lease_epoch)
    return row


def change(row: Session, **columns: Any) -> Session:
    """The same of a row that is `locked`; call it inside `atomic`."""
    before = switches.choice_of(row)
    for name, value in columns.items():
        setattr(row, name, value)
    row.time_updated = now()
    _changed.put(row, *columns, "time_updated", used=[row.time_updated] * 2)
    if "directory" in columns:
        events.moved(row.id, row.directory)
    switches.note(row, before)
    announce("session.updated", row)
    return row


def add_rules(session_id: str, rules: Sequence[dict[str, Any]], **columns: Any) -> Session | None:
    """The same, with permission rules that are added to those there are."""
    with transaction.atomic(savepoint=False):
        row = Session.objects.select_for_update().filter(id=session_id).first()
        return row and update(session_id, permission=[*row.permission, *rules], **columns)


def rename(session_id: str, title: str) -> Session | None:
    return update(session_id, title=title.strip()[:200] or "Untitled", titled=True)


def archive(session_id: str, archived: bool = True) -> Session | None:
    return update(session_id, time_archived=now() if archived else None)


def pin(session_id: str, pinned: bool = True) -> Session | None:
    """Keep it above the others in lists, or no longer, which is no use of it; None when it is gone."""
    with events.together():
        row = _locked(session_id)
        if row is not None and pinned != bool(row.time_pinned):
            row.time_pinned = now() if pinned else None
            row.save(update_fields=["time_pinned"])
            announce("session.updated", row)
        return row


def delete(session_id: str) -> Session | None:
    """Hide a session and its children; `restore` brings them back until `purge`."""
    return _set_deleted(session_id, now(), "session.deleted")


def restore(session_id: str) -> Session | None:
    return _set_deleted(session_id, None, "session.created")


def delete_archived(older_than: int) -> int:
    """Delete what was archived before a time (ms), is not pinned and does not run; returns how many went."""
    rows = Session.objects.filter(time_archived__lt=older_than, time_deleted=None, parent=None)
    ids = list(rows.filter(time_pinned=None, lease_owner="").values_list("id", flat=True))
    for session_id in ids:
        delete(session_id)
    return len(ids)


def _set_deleted(session_id: str, moment: int | None, event: str) -> Session | None:
    with transaction.atomic():
        row = Session.objects.select_related("project").filter(id=session_id).first()
        if row is None:
            return None
        row.time_deleted = moment
        row.save(update_fields=["time_deleted"])
        for child in Session.objects.filter(parent_id=session_id):
            _set_deleted(child.id, moment, event)
        announce(event, row)
    return row


def living(ids: Iterable[str]) -> set[str]:
    """Of some ids those of sessions that are there and not deleted."""
    return set(Session.objects.filter(id__in=list(ids), time_deleted=None).values_list("id", flat=True))


def purge(older_than: int) -> int:
    """Remove for good what was deleted before a time (ms); returns the number of rows."""
    return Session.objects.filter(time_deleted__lt=older_than).delete()[0]


def set_status(session_id: str, status: Status, *, error: dict[str, Any] | None = None) -> None:
    """The live state; `error` is what the last turn ended with, until the next one starts. Idle is told only
    when the turn outlives a power cut, and an error only when it is a failure."""
    with durable() if status.type == "idle" else nullcontext(), events.together():
        row = _ANY.first(session_id)
        if row is not None:
            put_status(row, status, error=error)


def put_status(row: Session, status: Status, *, error: dict[str, Any] | None = None) -> None:
    """The same of a row that was read in this transaction."""
    wire = status.wire()
    ended = _ends(row, status) and not (error and error["name"] == ABORTED)
    row.unread = row.unread or ended
    row.status, row.error = wire, error
    _told.put(row, "status", "error", "unread")
    _event(row, "session.status", {"sessionID": row.id, "status": wire})
    if error and error["name"] != ABORTED:
        _event(row, "session.error", {"sessionID": row.id, "error": error})
    if status.type == "idle":
        _event(row, "session.idle", {"sessionID": row.id})
    if ended:
        notifiers.ended(row)


def _ends(row: Session, status: Status) -> bool:
    return status.type == "idle" and bool(row.status) and row.status["type"] == "busy"


def read(session_id: str) -> None:
    """A person has looked at a session."""
    with transaction.atomic():
        row = Session.objects.filter(id=session_id, unread=True).first()
        if row is not None:
            row.unread = False
            row.save(update_fields=["unread"])
            _event(row, "session.read", {"sessionID": row.id})


def announce(type: str, row: Session, untold: int = 0, project: str = "") -> None:
    """Tell what a session is now, also those who watch another `project`; `untold` is as for `events.record`.
    Call it inside `atomic`."""
    properties = {"sessionID": row.id, "info": session_wire(row)}
    events.record(type, properties, project=project or row.project_id, session=row.id, untold=untold)


def _event(row: Session, type: str, properties: dict[str, Any]) -> None:
    events.record(type, properties, project=row.project_id, session=row.id)
