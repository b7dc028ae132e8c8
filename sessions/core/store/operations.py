"""Operations in the rows: each is noted with every file it is going to write before it touches the first,
then settled with what came of each, in one transaction.

An entry of `Operation.outcome` has what became of one file. Of a verdict on what is staged it also has the
staged row `before` and `after` (both without a difference where there is no row), the plan's contents, and
the ledger entry (`change`) if the working tree is written to. Its path is as seen from the session: absolute
where the file lies in another project, which is then in `place` with the path there. So what a crash cuts
short can be finished, and what was done can be taken back for ever.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from django.db import connection, transaction
from django.db.models import Q, QuerySet

from sessions.core.db import durable
from sessions.core.ids import ascending, now
from sessions.core.models import FileChange, Message, Operation, Part, Session, StagedFile
from sessions.core.models.ledger import pack_path, unpack_path
from sessions.core.wire.base import FileDiff

from . import events, messages, summary
from . import sessions as session_store
from .ledger import Point, announce, changed, since
from .staging import StaleEdit, save

Entry = Mapping[str, Any]
Place = tuple[str, str]
"""A file of the ledger: the id of its project, and its path there."""

Kind: TypeAlias = Operation.Kind
State: TypeAlias = Operation.State

CONVERSATION: Final = (Kind.REVERT, Kind.UNREVERT)
STAGED: Final = (Kind.KEEP, Kind.DROP, Kind.RESTAGE)

LEAVE: Final = "leave"
"""The act by hand (`Operation.scope`) that takes from a folder what a session took along to another."""

TAKE: Final = "take"
"""The act by hand that takes into a project what a session changed in a worktree of it."""

WRITTEN: Final = ("restore", "merge")
APPLIED: Final = (*WRITTEN, "already")
_NEWEST = 500  # operations looked through for hunks that can be redone


def get(project_id: str, operation_id: str) -> Operation | None:
    rows = Operation.objects.select_related("session__project", "project", "of")
    return rows.filter(project_id=project_id, id=operation_id).first()


def begin(
    session: Session,
    kind: Kind,
    intents: Iterable[FileChange] = (),
    *,
    outcome: Sequence[Entry],
    **columns: Any,
) -> Operation:
    """Note an operation with the ledger entries of what it is going to write, on the disk before it writes
    the first. `columns` are others of the operation: the point in the conversation, `scope`, `hunks`,
    `words`, `actor`, `of`. What keeps a staged edit is an entry of the call that made it, and not of the
    operation."""
    with durable(), transaction.atomic():
        operation = Operation(
            id=ascending("opn"),
            project_id=session.project_id,
            session=session,
            kind=kind,
            state=State.PLANNED,
            time_created=now(),
            **columns,
        )
        written = list(intents)
        for change in written:
            if change.origin != FileChange.Origin.KEPT:
                change.operation, change.origin = operation, FileChange.Origin.UNDO
            change.project_id = change.project_id or session.project_id
            change.time_created = now()
        FileChange.objects.bulk_create(written)
        noted = outcome
        if kind in STAGED:
            made = {(change.project_id, change.path): change.pk for change in written}
            noted = [{**entry, "change": made.get(place_of(session, entry))} for entry in outcome]
        operation.outcome = list(noted)
        operation.save(force_insert=True)
    return operation


def finish(
    operation: Operation,
    outcome: Sequence[Entry],
    left_alone: Mapping[str, Place] = MappingProxyType({}),
    diffs: list[FileDiff] | None = None,
    revert: Mapping[str, Any] | None = None,
) -> None:
    """Settle an operation with what came of each file; what it was to write to files in `left_alone` (by the
    paths of the outcome) is struck out. Of one on the conversation `diffs` are what the session has changed
    then, `revert` the wire's state of the session. Raises StaleEdit, of what is staged, where the agent has
    edited meanwhile.
    """
    with events.together():
        if operation.kind in CONVERSATION:
            _settle_conversation(operation, left_alone)
        elif operation.kind in STAGED:
            _settle_staged(operation, outcome)
        else:
            _settle_hunks(operation, left_alone)
        operation.state, operation.outcome = State.DONE, list(outcome)
        operation.save(update_fields=["state", "outcome"])
        for change in changes_of([operation]):
            if (change.project_id, change.path) in left_alone.values():
                change.delete()
            else:
                announce(change)
        changed(operation.session)
        if diffs is not None:
            summary.write(operation.session_id, diffs, revert=revert)
            _tell(operation.session, *(("staged", {"revert": revert}) if revert else ("cleared", {})))


def at_once(session: Session, kind: Kind, **noted: Any) -> Operation:
    """Note and settle an operation that writes no file. Raises StaleEdit."""
    with transaction.atomic():
        operation = begin(session, kind, **noted)
        finish(operation, operation.outcome)
    return operation


def planned() -> list[Operation]:
    """What was begun and not settled: running ones, or those of a process that died."""
    rows = Operation.objects.filter(state=State.PLANNED).select_related("session", "project")
    return list(rows.order_by("id"))


def is_planned(operation: Operation) -> bool:
    """Whether it still is: who carries it out may have settled it since the row was read."""
    return Operation.objects.filter(id=operation.id, state=State.PLANNED).exists()


def is_decided(operation: Operation) -> bool:
    """Whether it is carried through after a crash also where no file was written: what it is a part of stands
    by then."""
    return operation.kind in STAGED or operation.scope.get("act") == LEAVE


def withdraw(operation: Operation) -> None:
    """It has written nothing and is given up; the log keeps that it was begun."""
    with transaction.atomic():
        FileChange.objects.filter(operation=operation).delete()
        operation.state = State.WITHDRAWN
        operation.save(update_fields=["state"])


def changes_of(operations: Iterable[Operation]) -> list[FileChange]:
    """What operations wrote, or are going to, oldest first; with what a person kept of staged edits."""
    listed = list(operations)
    kept = [entry["change"] for row in listed for entry in row.outcome if entry.get("change")]
    mine = Q(operation__in=listed)
    return list(FileChange.objects.filter(mine | Q(id__in=kept) if kept else mine).order_by("id"))


def place_of(session: Session, entry: Entry) -> Place:
    """Where the file is that an outcome says of what became of it as a staged one."""
    project_id, path = entry.get("place") or (session.project_id, entry["path"])
    return project_id, unpack_path(path)


def active(session_id: str) -> QuerySet[Operation]:
    """The undos of the conversation that a redo would take back, oldest first."""
    return Operation.objects.filter(session_id=session_id, kind=Kind.REVERT, state=State.DONE).order_by("id")


def standing(session_id: str, most: Mapping[tuple[str, ...], int]) -> list[Operation]:
    """The verdicts on what a session did that stand, oldest first: given in it, or on its changes. `most`
    says how many of which kinds, the newest ones."""
    with connection.cursor() as cursor:
        cursor.execute(_STANDING, [session_id, session_id, State.DONE])
        found = cursor.fetchall()
    ids = [id for kinds, limit in most.items() for id in [id for id, kind in found if kind in kinds][:limit]]
    return list(Operation.objects.filter(id__in=ids).order_by("id")) if ids else []


_STANDING = (
    "SELECT id, kind FROM opencode_sessions_operation WHERE (session_id = %s OR id IN (SELECT operation_id"
    " FROM opencode_sessions_filechange WHERE session_id = %s AND operation_id IS NOT NULL)) AND state = %s"
    " ORDER BY id DESC"
)
"""Each step asks, and most sessions have none: Django takes longer to put it together than the database to
answer."""


def undone_hunks(project_id: str, paths: Collection[str]) -> dict[tuple[str, str], str]:
    """Which operation, still in effect, took back a hunk: by packed path and hunk key."""
    wanted = {pack_path(path) for path in paths}
    rows = Operation.objects.filter(project_id=project_id, kind=Kind.UNDO, state=State.DONE).order_by("-id")
    found: dict[tuple[str, str], str] = {}
    for operation_id, hunks in rows.values_list("id", "hunks")[:_NEWEST]:
        for hunk in hunks:
            if hunk["path"] in wanted:
                found.setdefault((hunk["path"], hunk["key"]), operation_id)
    return found


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
        active(session_id).update(state=State.FINAL)
        session_store.update(session_id, revert=None)
    return True


def _settle_conversation(operation: Operation, left_alone: Mapping[str, Place]) -> None:
    """What undos took back counts again, or once more not; files left alone count as they did before."""
    session_id = operation.session_id
    undone = FileChange.objects.filter(undone_by__session_id=session_id, undone_by__state=State.DONE)
    _without(undone, left_alone.values()).update(undone_by=None)
    if operation.kind == Kind.UNREVERT:
        active(session_id).update(state=State.CLOSED)
        return
    taken = since(session_id, Point(operation.message_id, operation.part_id))
    _without(taken, left_alone.values()).update(undone_by=operation)


def _without(rows: QuerySet[FileChange], places: Iterable[Place]) -> QuerySet[FileChange]:
    by_project: dict[str, list[str]] = {}
    for project_id, path in places:
        by_project.setdefault(project_id, []).append(path)
    for project_id, paths in by_project.items():
        rows = rows.exclude(project_id=project_id, path__in=paths)
    return rows


def _settle_hunks(operation: Operation, left_alone: Mapping[str, Place]) -> None:
    if operation.of_id is not None and not left_alone:
        Operation.objects.filter(id=operation.of_id).update(state=State.CLOSED)
    if operation.kind == Kind.REDO and operation.of_id is None:
        _strike(operation, left_alone)


def _strike(operation: Operation, left_alone: Collection[str]) -> None:
    """Hunks that were put back by themselves are no longer among what earlier verdicts took back."""
    skipped = {pack_path(path) for path in left_alone}
    back = {(hunk["path"], hunk["key"]) for hunk in operation.hunks if hunk["path"] not in skipped}
    rows = Operation.objects.filter(project_id=operation.project_id, kind=Kind.UNDO, state=State.DONE)
    for row in rows.order_by("-id")[:_NEWEST]:
        left = [hunk for hunk in row.hunks if (hunk["path"], hunk["key"]) not in back]
        if len(left) < len(row.hunks):
            row.hunks, row.state = left, row.state if left else State.CLOSED
            row.save(update_fields=["hunks", "state"])


def _settle_staged(operation: Operation, outcome: Sequence[Entry]) -> None:
    """The staged rows move. Raises StaleEdit."""
    for entry in outcome:
        if entry["outcome"] in APPLIED:
            _move(operation.session, entry)
    if operation.of_id is not None:
        Operation.objects.filter(id=operation.of_id).update(state=State.CLOSED)


def _move(session: Session, entry: Entry) -> None:
    """What the agent staged meanwhile stays; only where the verdict changes the same it is stale."""
    before, after = entry["before"], entry["after"]
    project_id, path = place_of(session, entry)
    row = StagedFile.objects.filter(session=session, project_id=project_id, path=path).first()
    if row is None:
        if before["base"] == before["content"]:
            save(StagedFile(session=session, project_id=project_id, path=path, **after))
        return
    if row.base == before["base"]:
        row.base, row.mode_base = after["base"], after["mode_base"]
    if row.content == before["content"]:
        row.content, row.mode = after["content"], after["mode"]
    elif after["content"] != before["content"]:
        raise StaleEdit(path)
    save(row)


def _tell(session: Session, what: str, more: Mapping[str, Any]) -> None:
    """As OpenCode's second protocol tells of an undo, beside the session's state."""
    properties = {"timestamp": now(), "sessionID": session.id, **more}
    events.record(f"session.next.revert.{what}", properties, project=session.project_id, session=session.id)


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
