"""The events after a cursor once more, each with what the rows say now.

An event of a row that is gone is left out: the log also has what tells of its end. What happened to one thing
several times comes once: a row where it came first, so that a message comes before its parts, and a state
where it came last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sessions.changes.review.filediffs import changed_in, file_diffs
from sessions.core import bus
from sessions.core.ids import of_log
from sessions.core.models import (
    ContextMessage,
    Event,
    Message,
    Part,
    PermissionRequest,
    QuestionRequest,
    Session,
)
from sessions.core.store import events, ledger, questions, todos
from sessions.core.store.rows import message_wire, part_wire, permission_info, session_wire

Properties = dict[str, Any]
Key = tuple[str, str, str]


def replay(cursor: int, *, project: str = "") -> tuple[int, list[bus.Event] | None]:
    """The cursor of now, and what was logged after another one, oldest first: of a project, or of all. None
    when the log does not reach back so far, or when that is too much to be told one by one."""
    latest = events.latest()
    rows = events.after(cursor, project=project)
    if rows is None or cursor > latest:
        return latest, None
    return latest, events_of(_once(rows))


def events_of(rows: Sequence[Event]) -> list[bus.Event]:
    """What these rows of the log tell now, in their order."""
    return [event for row in rows if (event := _event(row)) is not None]


def ends(rows: Sequence[Event]) -> list[Event]:
    """The first and the last row of what happened to one thing several times: a message comes before its
    parts, and who has seen the last of it has seen all."""
    first, last = _first_and_last(rows)
    return sorted({row.pk: row for row in (*first.values(), *last.values())}.values(), key=lambda row: row.pk)


def _once(rows: Sequence[Event]) -> list[Event]:
    first, last = _first_and_last(rows)
    kept = (first if key[0] in _ROWS else last for key in first)
    found = [chosen[key] for key, chosen in zip(first, kept, strict=True)]
    return sorted(found, key=lambda row: row.pk)


def _first_and_last(rows: Sequence[Event]) -> tuple[dict[Key, Event], dict[Key, Event]]:
    first: dict[Key, Event] = {}
    last: dict[Key, Event] = {}
    for row in rows:
        key = (row.type, row.session_id, str(sorted(row.reference.items())))
        first.setdefault(key, row)
        last[key] = row
    return first, last


def _event(row: Event) -> bus.Event | None:
    properties: Properties | None = dict(row.reference)
    if row.session_id and row.type != "file.watcher.updated":
        properties = {"sessionID": row.session_id, **row.reference}
    if read := _READ.get(row.type):
        more = read(row)
        properties = None if more is None else {**(properties or {}), **more}
    if properties is None:
        return None
    return bus.Event(
        row.type,
        properties,
        seq=row.pk,
        project_id=row.project_id,
        session_id=row.session_id,
        directory=events.directory_of(row.session_id) if row.session_id else "",
        id=of_log(row.time_created, row.pk),
        number=row.number,
    )


def _session(row: Event) -> Session | None:
    return Session.objects.filter(id=row.session_id).select_related("project").first()


def _info(row: Event) -> Properties | None:
    session = _session(row)
    if session is None or (session.time_deleted is None) == (row.type == "session.deleted"):
        return None
    return {"info": session_wire(session)}


def _message(row: Event) -> Properties | None:
    found = Message.objects.filter(id=row.reference["messageID"]).first()
    return {"info": message_wire(found)} if found else None


def _part(row: Event) -> Properties | None:
    found = Part.objects.filter(id=row.reference["partID"]).first()
    return {"part": part_wire(found), "time": row.time_created} if found else None


def _status(row: Event) -> Properties | None:
    session = _session(row)
    return {"status": session.status or {"type": "idle"}} if session else None


def _idle(row: Event) -> Properties | None:
    session = _session(row)
    return {} if session and session.status.get("type", "idle") == "idle" else None


def _error(row: Event) -> Properties | None:
    session = _session(row)
    return {"error": session.error} if session and session.error else None


def _diff(row: Event) -> Properties | None:
    session = _session(row)
    if session is None:
        return None
    found = changed_in(session, ledger.by_tools(session.id))
    return {"diff": [diff.wire() for diff in file_diffs(found.files, found.roots)]}


def _todos(row: Event) -> Properties:
    return {"todos": [todo.wire() for todo in todos.listing(row.session_id)]}


def _permission(row: Event) -> Properties | None:
    found = PermissionRequest.objects.filter(id=row.reference["id"], state="pending").first()
    return permission_info(found).wire() if found else None


def _question(row: Event) -> Properties | None:
    found = QuestionRequest.objects.filter(id=row.reference["id"], state="pending").first()
    return questions.info(found).wire() if found else None


def _answers(row: Event) -> Properties | None:
    found = QuestionRequest.objects.filter(id=row.reference["requestID"]).first()
    return {"answers": found.answers} if found else None


def _context(row: Event) -> Properties | None:
    found = ContextMessage.objects.filter(id=row.reference["messageID"]).first()
    return {"timestamp": found.time_created, "text": found.text} if found else None


def _revert(row: Event) -> Properties | None:
    session = _session(row)
    return {"revert": session.revert} if session and session.revert else None


_READ: Mapping[str, Callable[[Event], Properties | None]] = {
    "session.created": _info,
    "session.updated": _info,
    "session.deleted": _info,
    "session.status": _status,
    "session.idle": _idle,
    "session.error": _error,
    "session.diff": _diff,
    "session.next.context.updated": _context,
    "session.next.revert.staged": _revert,
    "message.updated": _message,
    "message.part.updated": _part,
    "todo.updated": _todos,
    "permission.asked": _permission,
    "question.asked": _question,
    "question.replied": _answers,
}
"""What an event says beside what the log has of it, read from the rows; None: nothing to tell any more."""

_ROWS = frozenset({"session.created", "session.updated", "message.updated", "message.part.updated"})
