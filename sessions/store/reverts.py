"""Undo and redo in the rows: noted before files are touched, then settled, made final by a new prompt."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from django.db import transaction
from django.db.models import Q, QuerySet

from sessions.db import durable
from sessions.ids import ascending, now
from sessions.models import FileChange, Message, Operation, Part, Session
from sessions.wire.base import FileDiff

from . import events, messages, operations, summary
from . import sessions as session_store
from .kept import KINDS as STAGING
from .ledger import Point, announce, undoable


def locate(session_id: str, message_id: str, part_id: str = "") -> Point | None:
    """Where an undo from this message or part begins: an answer is taken back with its question."""
    message = Message.objects.filter(session_id=session_id, id=message_id).first()
    if message is None:
        return None
    if part_id:
        known = Part.objects.filter(message_id=message_id, id=part_id).exists()
        return Point(message_id, part_id) if known else None
    asked = Message.objects.filter(session_id=session_id, role="user", id__lte=message_id)
    return Point(asked.order_by("-id").values_list("id", flat=True).first() or message_id)


def since(session_id: str, point: Point) -> QuerySet[FileChange]:
    """What an undo from a point on takes back, oldest first: also of the subagents sent from there on. The
    ledger names the topmost session that sent one; for a session in between, its calls name them."""
    above = Session.objects.filter(id=session_id).values_list("parent_id", flat=True).first()
    below = Q()
    for child, prompt in _sent(session_id, point) if above else ():
        below |= Q(session_id=child, message_id__gte=prompt) & ~Q(for_session=None)
    return undoable(session_id, below).filter(point.onward(session_id) | below)


def _sent(session_id: str, point: Point) -> Iterator[tuple[str, str]]:
    """The sessions that calls from a point on sent, and those that these sent, each with its first prompt."""
    later = Q(message_id__gt=point.message_id) | Q(message_id=point.message_id, id__gte=point.part_id)
    calls = Part.objects.filter(later, session_id=session_id, data__state__metadata__promptId__isnull=False)
    first: dict[str, str] = {}
    for call in calls.order_by("message_id", "id"):
        metadata = call.data["state"]["metadata"]
        first.setdefault(str(metadata.get("sessionId")), str(metadata["promptId"]))
    children = Session.objects.filter(parent_id=session_id, id__in=first)
    for child in children.values_list("id", flat=True):
        yield child, first[child]
        yield from _sent(child, Point(first[child]))


def active(session_id: str) -> QuerySet[Operation]:
    """The undos that a redo would take back, oldest first."""
    return Operation.objects.filter(session_id=session_id, kind="revert", state="done").order_by("id")


def changes_of(operations: Iterable[Operation]) -> list[FileChange]:
    """What undos and redos wrote, oldest first."""
    return list(FileChange.objects.filter(operation__in=operations).order_by("id"))


def begin(
    session: Session,
    kind: str,
    point: Point,
    outcome: list[dict[str, Any]],
    intents: Iterable[FileChange],
    **columns: Any,
) -> Operation:
    """Note an undo or redo with every file it is going to write, on the disk before it writes the first.
    `columns` are others of the operation: `scope`, `actor`."""
    with durable(), transaction.atomic():
        operation = Operation.objects.create(
            id=ascending("opn"),
            project_id=session.project_id,
            session=session,
            kind=kind,
            state="planned",
            message_id=point.message_id,
            part_id=point.part_id,
            outcome=outcome,
            time_created=now(),
            **columns,
        )
        for change in intents:
            change.operation, change.session, change.project_id = operation, session, session.project_id
            change.message_id, change.origin, change.time_created = point.message_id, "undo", now()
        FileChange.objects.bulk_create(intents)
    return operation


def planned() -> list[Operation]:
    """Undos and redos that were begun and not settled: running ones, or those of a process that died."""
    rows = Operation.objects.filter(state="planned").exclude(kind__in=STAGING)
    return list(rows.select_related("session", "project").order_by("id"))


def withdraw(operation: Operation) -> None:
    """An undo or redo has written nothing and is given up; the log keeps that it was begun."""
    with transaction.atomic():
        FileChange.objects.filter(operation=operation).delete()
        operation.state = "withdrawn"
        operation.save(update_fields=["state"])


def finish_revert(
    operation: Operation,
    outcome: list[dict[str, Any]],
    left_alone: Collection[str],
    revert: dict[str, Any],
    diffs: list[FileDiff],
) -> None:
    """Settle an undo. Files in `left_alone` count as they did before; `diffs` are what the session still
    has changed; `revert` is the wire's state of the session."""
    point = Point(operation.message_id, operation.part_id)
    with transaction.atomic():
        _taken_back(operation.session_id).exclude(path__in=left_alone).update(undone_by=None)
        since(operation.session_id, point).exclude(path__in=left_alone).update(undone_by=operation)
        _settle(operation, "done", outcome, left_alone)
        summary.write(operation.session_id, diffs, revert=revert)
        _tell(operation.session, "staged", {"revert": revert})


def finish_unrevert(
    operation: Operation, outcome: list[dict[str, Any]], left_alone: Collection[str], diffs: list[FileDiff]
) -> None:
    """Settle a redo: what the undos took back counts again, but for files in `left_alone`."""
    with transaction.atomic():
        _taken_back(operation.session_id).exclude(path__in=left_alone).update(undone_by=None)
        active(operation.session_id).update(state="closed")
        _settle(operation, "done", outcome, left_alone)
        summary.write(operation.session_id, diffs, revert=None)
        _tell(operation.session, "cleared", {})


def _taken_back(session_id: str) -> QuerySet[FileChange]:
    """What the undos of a session that can be redone have taken back."""
    return FileChange.objects.filter(undone_by__session_id=session_id, undone_by__state="done")


def make_final(session_id: str) -> bool:
    """A new prompt follows: the undone messages go for good. Their ledger entries stay, marked as undone.

    Whether there was an undo.
    """
    revert = Session.objects.filter(id=session_id).values_list("revert", flat=True).first()
    if not revert:
        return False
    message_id, part_id = revert["messageID"], revert.get("partID")
    with transaction.atomic():
        _tell(Session.objects.get(id=session_id), "committed", {"messageID": messages.known_as(message_id)})
        if part_id:
            _remove_parts(session_id, message_id, part_id)
            later = Message.objects.filter(session_id=session_id, id__gt=message_id).order_by("id")
            message_id = later.values_list("id", flat=True).first()
        if message_id:
            messages.remove_messages(session_id, message_id)
        active(session_id).update(state="final")
        session_store.update(session_id, revert=None)
    return True


def _tell(session: Session, what: str, more: dict[str, Any]) -> None:
    """As OpenCode's second protocol tells of an undo, beside the session's state."""
    properties = {"timestamp": now(), "sessionID": session.id, **more}
    events.record(f"session.next.revert.{what}", properties, project=session.project_id, session=session.id)


def _settle(
    operation: Operation, state: str, outcome: list[dict[str, Any]], left_alone: Collection[str]
) -> None:
    operation.state, operation.outcome = state, outcome
    operation.save(update_fields=["state", "outcome"])
    written = FileChange.objects.filter(operation=operation)
    written.filter(path__in=left_alone).delete()
    for change in written:
        announce(change)
    operations.changed(operation.session)


def _remove_parts(session_id: str, message_id: str, part_id: str) -> None:
    rows = Part.objects.filter(message_id=message_id, id__gte=part_id)
    project = Session.objects.values_list("project_id", flat=True).get(id=session_id)
    gone = list(rows.values_list("id", flat=True).order_by("id"))
    rows.delete()
    for removed in gone:
        events.record(
            "message.part.removed",
            {"sessionID": session_id, "messageID": message_id, "partID": removed},
            project=project,
            session=session_id,
            reference={"messageID": message_id, "partID": removed},
        )
