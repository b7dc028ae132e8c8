"""A fork: a new session that begins with a copy of another one's conversation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import F, Model, Q

from sessions.core.ids import ascending
from sessions.core.models import FileChange, Message, Operation, Part, Pin, Project, Session, StagedFile
from sessions.core.wire.session import SessionModel

from . import events, family, index, messages, pins, presets, todos
from . import sessions as session_store
from .ledger import Point

Entry = Mapping[str, Any]
_COLUMNS = frozenset({"id", "sessionID", "messageID", "role", "type"})
_NUMBERED = re.compile(r" \(fork #(\d{1,9})\)$")


def fork(
    source: Session, before: str = "", *, project: Project | None = None, directory: str = ""
) -> Session:
    """Copy what the conversation has now, or what it has before a message, in one transaction.

    Every message and part gets a new id in the old order. What is undone, and a step that still runs, is
    left out. What is pinned comes along, of messages what is copied; so do the todos and what waits in
    review mode unless the copy ends before a message; the files and the ledger of what was changed in them
    stay the original's. With `project` (a row that may be new) the copy lives there, in `directory`.
    """
    with transaction.atomic():
        if project is not None:
            project.save()
        entries = [entry for entry in _shown(source, before) if not _runs(entry)]
        copy = _empty_copy(source, before, project or source.project, directory or source.directory)
        new_ids = _new_ids(entries)
        elsewhere = copy.project_id != source.project_id
        Message.objects.bulk_create(_message(entry["info"], copy.id, new_ids) for entry in entries)
        Part.objects.bulk_create(
            _part(part, copy.id, new_ids, elsewhere) for entry in entries for part in entry["parts"]
        )
        index.touch(new_ids[entry["info"]["id"]] for entry in entries)
        if entries:
            session_store.announce("session.updated", copy, untold=len(new_ids))
        _copy_pins(source.id, copy, new_ids)
        if not before:
            todos.replace(copy, todos.listing(source.id))
            _copy_staged(source, copy, new_ids)
        events.record(
            "session.forked", {"sessionID": source.id}, project=source.project_id, session=source.id
        )
    return copy


def listing(session_id: str) -> list[Session]:
    """The forks of a session, the oldest first."""
    return list(Session.objects.filter(forked_from_id=session_id, time_deleted=None).order_by("time_created"))


def end_of(session_id: str, message_id: str) -> str | None:
    """What a fork after a message is forked before: the next message, empty at the end; None: no such one."""
    if not Message.objects.filter(session_id=session_id, id=message_id).exists():
        return None
    later = Message.objects.filter(session_id=session_id, id__gt=message_id).order_by("id")
    return later.values_list("id", flat=True).first() or ""


def changes_since(session_id: str, before: str) -> list[FileChange]:
    """What a session, its subagents and its undos did to its project's files from a message on, oldest first.
    Nothing for
    the end, and for a message that is gone."""
    start = Message.objects.filter(session_id=session_id, id=before).values_list("time_created", flat=True)
    if not start:
        return []
    made = Point(before).onward(session_id) & Q(operation=None)
    undone = Q(session_id__in=family.of(session_id), operation__isnull=False, time_created__gte=start[0])
    return list(
        FileChange.objects.filter(made | undone, project_id=F("session__project_id"))
        .exclude(operation__state=Operation.State.PLANNED)
        .order_by("id")
    )


def staged(session_id: str) -> list[StagedFile]:
    """What a fork at the end takes along of review mode."""
    return list(StagedFile.objects.filter(session_id=session_id))


def _shown(source: Session, before: str) -> list[Entry]:
    """The history without what is undone: from a message on, or from a part of it on."""
    entries: list[Entry] = list(messages.history(source.id, before=before))
    if not source.revert:
        return entries
    last, part_id = source.revert["messageID"], source.revert.get("partID")
    kept = [entry for entry in entries if entry["info"]["id"] < last]
    for entry in entries:
        if part_id and entry["info"]["id"] == last:
            kept.append({**entry, "parts": [part for part in entry["parts"] if part["id"] < part_id]})
    return kept


def _runs(entry: Entry) -> bool:
    info = entry["info"]
    return info["role"] == "assistant" and not info["time"].get("completed")


def _empty_copy(source: Session, before: str, project: Project, directory: str) -> Session:
    model = SessionModel(id=source.model_id, provider_id=source.provider_id, variant=source.variant or None)
    copy = session_store.create(
        project,
        directory,
        title=_title(source.title),
        permission=source.permission,
        agent=source.agent,
        model=model if source.model_id else None,
    )
    copy.forked_from, copy.forked_at, copy.staging = source, before, source.staging
    copy.preset, copy.folders = presets.carried(source.preset), source.folders
    copy.save(update_fields=["forked_from", "forked_at", "staging", "preset", "folders"])
    return copy


def _title(original: str) -> str:
    """The original's with `(fork #1)` behind it, of a fork with the next number, as OpenCode has it: two
    forks of one session are called the same."""
    numbered = _NUMBERED.search(original)
    if numbered is None:
        return f"{original} (fork #1)"
    return f"{original[: numbered.start()]} (fork #{int(numbered[1]) + 1})"


def _new_ids(entries: list[Entry]) -> dict[str, str]:
    """The id of each copied message and part by that of the original."""
    ids = {entry["info"]["id"]: ascending("msg") for entry in entries}
    return ids | {part["id"]: ascending("prt") for entry in entries for part in entry["parts"]}


def _copy_staged(source: Session, copy: Session, new_ids: Mapping[str, str]) -> None:
    """What is kept in the fork is the fork's own change; in a folder beside the project it waits there."""
    rows = staged(source.id)
    for row in rows:
        _fresh(row)
        if row.project_id == source.project_id:
            row.project = copy.project
        row.session, row.by_session = copy, copy
        message, part = row.for_message_id or row.message_id, row.for_part_id or row.part_id
        row.message_id, row.part_id = new_ids.get(message, ""), new_ids.get(part, "")
        row.for_message_id = row.for_part_id = ""
    StagedFile.objects.bulk_create(rows)


def _copy_pins(source_id: str, copy: Session, new_ids: Mapping[str, str]) -> None:
    rows = [row for row in pins.listing(source_id) if not row.message_id or row.message_id in new_ids]
    for row in rows:
        _fresh(row)
        row.id, row.session = ascending("pin"), copy
        row.message_id = new_ids[row.message_id] if row.message_id else None
    Pin.objects.bulk_create(rows)


def _fresh(row: Model) -> None:
    row.pk, row._state.adding = None, True


def _message(info: Entry, session_id: str, new_ids: Mapping[str, str]) -> Message:
    return Message(
        id=new_ids[info["id"]],
        session_id=session_id,
        role=info["role"],
        time_created=info["time"]["created"],
        data=_data(info, new_ids),
    )


def _part(part: Entry, session_id: str, new_ids: Mapping[str, str], elsewhere: bool) -> Part:
    return Part(
        id=new_ids[part["id"]],
        session_id=session_id,
        message_id=new_ids[part["messageID"]],
        type=part["type"],
        data=_data(_alone(part) if elsewhere else part, new_ids),
    )


def _alone(part: Entry) -> Entry:
    """Without the way to a subagent's session, which stays in the original's project."""
    state = part.get("state") or {}
    if "sessionId" not in (state.get("metadata") or {}):
        return part
    metadata = {key: value for key, value in state["metadata"].items() if key != "sessionId"}
    return {**part, "state": {**state, "metadata": metadata}}


def _data(wire: Entry, new_ids: Mapping[str, str]) -> dict[str, Any]:
    """Without what has a column; what names a copied message (`parentID`) names its copy."""
    return {
        key: new_ids.get(value, value) if isinstance(value, str) else value
        for key, value in wire.items()
        if key not in _COLUMNS
    }
