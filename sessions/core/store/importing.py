"""A whole session from elsewhere: with its ids and times, in one transaction, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction
from django.db.models import Count, QuerySet

from sessions.core.ids import now
from sessions.core.models import FileChange, Message, Part, Session, Todo
from sessions.core.prepared import Upsert
from sessions.core.text import wellformed

from . import index, operations
from . import sessions as session_store
from .folders import NotTaken, project_for
from .ledger import Point, changed

Wire = Mapping[str, Any]
_messages, _parts = Upsert(Message, kept=["document"]), Upsert(Part)
Outcome = Literal["imported", "updated", "same", "newer", "diverged", "deleted", "running"]
"""`newer`: it was continued here, and `diverged`: in both places; `deleted`: here; `running`: now, here.
Nothing is written in these four, nor for `same`."""

_COLUMNS = frozenset({"id", "sessionID", "messageID", "role", "type"})
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Known:
    """What is here already of a session: the time of its last change (ms) and how many messages."""

    updated: int
    messages: int
    deleted: bool


def known(session_ids: Sequence[str]) -> dict[str, Known]:
    """Of these sessions, those that are here."""
    found: dict[str, Known] = {}
    for start in range(0, len(session_ids), _BATCH):
        rows = Session.objects.filter(id__in=session_ids[start : start + _BATCH])
        for row in rows.annotate(count=Count("messages")):
            found[row.id] = Known(row.time_updated, row.count, row.time_deleted is not None)
    return found


def would_be(info: Wire, ids: set[str], *, deleted_too: bool = False) -> Outcome:
    """What `put` would do with a session of these messages."""
    return _outcome(Session.objects.filter(id=info["id"]).first(), info, ids, deleted_too)


def put(
    info: Wire,
    entries: Sequence[Wire],
    todos: Sequence[Wire],
    *,
    worktree: str = "",
    deleted_too: bool = False,
) -> Outcome:
    """Take a session in, or what is new of it. Wire shapes; `entries` are `[{"info", "parts"}]`.

    What is open in them is ended (`settle`). A session that was continued here stays as it is, and so does
    one that was deleted here unless `deleted_too`. A parent that is not here is left out, and so are rules
    that allow something: a file is nobody's consent. Raises NotTaken.
    """
    with transaction.atomic():
        row = Session.objects.filter(id=info["id"]).first()
        ids = {entry["info"]["id"] for entry in entries}
        outcome = _outcome(row, info, ids, deleted_too)
        if outcome not in ("imported", "updated"):
            return outcome
        _check_ids(info["id"], ids, {part["id"] for entry in entries for part in entry["parts"]})
        row = _renewed(row, info) if row else _new(info, worktree)
        row.save()
        if outcome == "imported":
            session_store.announce("session.created", row)
        for entry in entries:
            settle(entry["info"], entry["parts"])
        _put_entries(row.id, entries)
        _put_todos(row.id, todos)
        if entries or outcome == "updated":
            rows = sum(1 + len(entry["parts"]) for entry in entries)
            session_store.announce("session.updated", row, untold=rows)
    return outcome


def put_changes(session: Session, changes: Sequence[FileChange]) -> None:
    """What steps of an imported session changed in files, oldest first, with the times of then and contents
    that are ours (`changed_by` tells of which steps this is known already)."""
    for change in changes:
        change.session, change.project_id = session, session.project_id
    with transaction.atomic():
        FileChange.objects.bulk_create(changes)
        if changes:
            changed(session)


def changed_by(session_id: str) -> set[str]:
    """The parts of an imported session whose changes of files are in the ledger."""
    return set(_by_steps(session_id).values_list("part_id", flat=True))


def _by_steps(session_id: str) -> QuerySet[FileChange]:
    """What OpenCode's steps changed: their patches name it."""
    patches = Part.objects.filter(session_id=session_id, type="patch").values("id")
    return FileChange.objects.filter(session_id=session_id, part_id__in=patches, operation=None)


INTERRUPTED = "It was still running when it was imported."


def settle(message: dict[str, Any], parts: list[dict[str, Any]]) -> bool:
    """End what nobody here goes on with: it was at work elsewhere when it was read. Whether there was any."""
    runs = False
    ended = message["time"].get("completed") or message["time"]["created"]
    for part in parts:
        state = part.get("state") or {}
        if part["type"] == "tool" and state.get("status") in ("pending", "running"):
            started = (state.get("time") or {}).get("start", ended)
            time = {"start": started, "end": max(started, ended)}
            part["state"] = {**state, "status": "error", "error": INTERRUPTED, "time": time}
            runs = True
    if message["role"] == "assistant" and not message["time"].get("completed"):
        message["time"]["completed"] = ended
        runs = True
    return runs


def _outcome(row: Session | None, info: Wire, ids: set[str], deleted_too: bool) -> Outcome:
    if row is None:
        return "imported"
    if row.time_deleted is not None:
        return "imported" if deleted_too else "deleted"
    if row.lease_owner and row.lease_until > now():
        return "running"
    here = set(Message.objects.filter(session_id=row.id).values_list("id", flat=True))
    if here - ids:
        return "diverged" if ids - here else "newer"
    return "updated" if ids - here or info["time"]["updated"] > row.time_updated else "same"


def _check_ids(session_id: str, messages: Iterable[str], parts: Iterable[str]) -> None:
    """A file may name what it likes: nothing of another session is overwritten."""
    for kind, ids in ((Message, list(messages)), (Part, list(parts))):
        for start in range(0, len(ids), _BATCH):
            taken = kind._default_manager.filter(id__in=ids[start : start + _BATCH])
            if other := taken.exclude(session_id=session_id).first():
                raise NotTaken(f"{other.pk} is of another session here")


def _new(info: Wire, worktree: str) -> Session:
    project = project_for(str(info.get("directory") or ""), worktree, info["time"]["updated"])
    parent = info.get("parentID")
    return Session(
        id=info["id"],
        project=project,
        parent_id=parent if parent and Session.objects.filter(id=parent).exists() else None,
        directory=wellformed(str(info["directory"])),
        slug=_word(info.get("slug"), 64) or info["id"][-8:],
        version=_word(info.get("version"), 16),
        titled=True,
        time_created=info["time"]["created"],
        **_columns(info),
    )


def _renewed(row: Session, info: Wire) -> Session:
    """What was changed here since the source's last change (a title, say) stays, and so does an undo of here:
    its files are known. What the source has undone since is no change any more."""
    row.time_deleted = None
    if row.time_updated > info["time"]["updated"]:
        return row
    columns = _columns(info)
    if operations.active(row.id).exists():
        columns["revert"] = row.revert
    elif undone := info.get("revert"):
        point = Point(undone["messageID"], undone.get("partID", ""))
        _by_steps(row.id).filter(point.onward(row.id)).delete()
    for name, value in columns.items():
        setattr(row, name, value)
    return row


def _columns(info: Wire) -> dict[str, Any]:
    """What changes in the life of a session."""
    model = info.get("model") or {}
    archived = info["time"].get("archived")
    return {
        "title": wellformed(str(info["title"])),
        "agent": _word(info.get("agent"), 64),
        "provider_id": _word(model.get("providerID"), 128),
        "model_id": _word(model.get("id") or model.get("modelID"), 500),
        "variant": _word(model.get("variant"), 64),
        "permission": [rule for rule in info.get("permission") or () if _is_limit(rule)],
        "summary": info.get("summary") or {},
        "tokens": info.get("tokens") or {},
        "cost": float(info.get("cost") or 0),
        "metadata": info.get("metadata") if isinstance(info.get("metadata"), dict) else None,
        "revert": info.get("revert"),
        "time_updated": info["time"]["updated"],
        "used": info["time"]["updated"],
        "time_archived": archived if isinstance(archived, int) else None,
    }


def _is_limit(rule: Any) -> bool:
    """Whether a rule forbids or asks."""
    if not isinstance(rule, dict) or rule.get("action") not in ("deny", "ask"):
        return False
    return all(isinstance(rule.get(key), str) for key in ("permission", "pattern"))


def _word(value: Any, longest: int) -> str:
    return wellformed(value)[:longest] if isinstance(value, str) else ""


def _put_entries(session_id: str, entries: Sequence[Wire]) -> None:
    _messages.put([_message(entry["info"], session_id) for entry in entries])
    _parts.put([_part(part, session_id) for entry in entries for part in entry["parts"]])
    index.touch(entry["info"]["id"] for entry in entries)


def _message(info: Wire, session_id: str) -> Message:
    return Message(
        id=info["id"],
        session_id=session_id,
        role=info["role"],
        time_created=info["time"]["created"],
        data={key: value for key, value in info.items() if key not in _COLUMNS},
    )


def _part(part: Wire, session_id: str) -> Part:
    """A kind with a name longer than its column keeps it in `data`, which wins on the wire."""
    kind, longest = part["type"], Part._meta.get_field("type").max_length or 0
    data = {key: value for key, value in part.items() if key not in _COLUMNS}
    if len(kind) > longest:
        data["type"] = kind
    return Part(
        id=part["id"],
        session_id=session_id,
        message_id=part["messageID"],
        type=kind[:longest],
        data=data,
    )


def _put_todos(session_id: str, todos: Sequence[Wire]) -> None:
    Todo.objects.filter(session_id=session_id).delete()
    Todo.objects.bulk_create(
        Todo(
            session_id=session_id,
            position=position,
            content=wellformed(str(todo.get("content", ""))),
            status=_word(todo.get("status"), 16) or "pending",
            priority=_word(todo.get("priority"), 16) or "medium",
        )
        for position, todo in enumerate(todos)
    )
