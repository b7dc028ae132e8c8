"""A fork: a new session that begins with a copy of another one's conversation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from sessions.ids import ascending
from sessions.models import Message, Part, Session
from sessions.wire.session import SessionModel

from . import messages, todos
from . import sessions as session_store

Entry = Mapping[str, Any]
_COLUMNS = frozenset({"id", "sessionID", "messageID", "role", "type"})


def fork(source: Session, before: str = "") -> Session:
    """Copy what the conversation has now, or what it has before a message, in one transaction.

    Every message and part gets a new id in the old order. What is undone, and a step that still runs, is
    left out. The todos come along unless the copy ends before a message; the files and the ledger of what
    was changed in them stay the original's.
    """
    with transaction.atomic():
        entries = [entry for entry in _shown(source, before) if not _runs(entry)]
        copy = _empty_copy(source)
        new_ids = {entry["info"]["id"]: ascending("msg") for entry in entries}
        Message.objects.bulk_create(_message(entry["info"], copy.id, new_ids) for entry in entries)
        Part.objects.bulk_create(
            _part(part, copy.id, new_ids) for entry in entries for part in entry["parts"]
        )
        if not before:
            todos.replace(copy, todos.listing(source.id))
    return copy


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


def _empty_copy(source: Session) -> Session:
    model = SessionModel(id=source.model_id, provider_id=source.provider_id, variant=source.variant or None)
    return session_store.create(
        source.project,
        source.directory,
        title=f"{source.title} (fork)",
        permission=source.permission,
        agent=source.agent,
        model=model if source.model_id else None,
    )


def _message(info: Entry, session_id: str, new_ids: Mapping[str, str]) -> Message:
    return Message(
        id=new_ids[info["id"]],
        session_id=session_id,
        role=info["role"],
        time_created=info["time"]["created"],
        data=_data(info, new_ids),
    )


def _part(part: Entry, session_id: str, new_ids: Mapping[str, str]) -> Part:
    return Part(
        id=ascending("prt"),
        session_id=session_id,
        message_id=new_ids[part["messageID"]],
        type=part["type"],
        data=_data(part, new_ids),
    )


def _data(wire: Entry, new_ids: Mapping[str, str]) -> dict[str, Any]:
    """Without what has a column; what names a copied message (`parentID`) names its copy."""
    return {
        key: new_ids.get(value, value) if isinstance(value, str) else value
        for key, value in wire.items()
        if key not in _COLUMNS
    }
