"""Rows read for live pages; every function here runs on the ORM's thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sessions.core import bus
from sessions.core.models import Event, Message
from sessions.core.store import events as event_log
from sessions.core.store import messages, session_folders
from sessions.core.store import sessions as session_store
from sessions.core.store.rows import message_wire, part_wire
from sessions.web.live.fragments import SIDEBAR_EVENTS, Fragment, renewed_by, shown_by_rows


def listed_since(since: int, project_id: str) -> tuple[int, set[str], bool]:
    """The cursor of now, the sessions whose row in the sidebar changed since a cursor, and whether its
    folders did."""
    latest = event_log.latest()
    types = SIDEBAR_EVENTS | {"session.deleted", session_folders.CHANGED}
    rows = Event.objects.filter(id__gt=since, project_id=project_id, type__in=types)
    told = set(rows.values_list("type", "session_id").distinct())
    listed = {session for type, session in told if type != session_folders.CHANGED}
    return latest, listed, any(type == session_folders.CHANGED for type, _ in told)


def renewed_since(since: int, project_id: str, session_id: str) -> list[Fragment]:
    """What a page of the session that was just loaded may lack: it asks by itself for all else."""
    rows = (
        Event.objects.filter(id__gt=since, project_id=project_id).values_list("type", "session_id").distinct()
    )
    own = [type for type, session in rows if session == session_id]
    elsewhere = [type for type, session in rows if session != session_id]
    return list(dict.fromkeys([*shown_by_rows(), *renewed_by(own, elsewhere)]))


def changes_after(since: int, session_id: str) -> tuple[list[str], list[str], list[str]] | None:
    """Ids of messages and parts removed, messages changed and parts changed after a cursor; None: before the
    log."""
    found = event_log.after(since, session=session_id)
    if found is None:
        return None
    removed: dict[str, None] = {}
    changed: dict[str, None] = {}
    parts: dict[str, None] = {}
    for event in found:
        reference = event.reference
        if event.type == "message.removed":
            removed[reference["messageID"]] = None
        elif event.type == "message.part.removed":
            removed[reference["partID"]] = None
        elif "partID" in reference:
            parts[reference["partID"]] = None
        elif event.type == "message.updated":
            changed[reference["messageID"]] = None
    return list(removed), list(changed), list(parts)


def message_rows(session_id: str, ids: Iterable[str]) -> list[dict[str, Any]]:
    """Messages without their parts, in order; those that are gone are left out."""
    rows = Message.objects.filter(session_id=session_id, id__in=list(ids)).order_by("id")
    return [message_wire(row) for row in rows]


def part_rows(session_id: str, ids: Iterable[str]) -> list[dict[str, Any]]:
    found = (messages.part(session_id, part_id) for part_id in ids)
    return [part for part in found if part is not None]


def open_parts(session_id: str) -> list[dict[str, Any]]:
    """The text and reasoning that may still be growing."""
    last = Message.objects.filter(session_id=session_id).order_by("-id").first()
    if last is None or last.role != "assistant" or last.data["time"].get("completed"):
        return []
    rows = last.parts.filter(type__in=("text", "reasoning"), data__time__end__isnull=True).order_by("id")
    return [part_wire(row) for row in rows]


def role_of(message_id: str) -> str:
    return Message.objects.filter(id=message_id).values_list("role", flat=True).first() or "assistant"


def last_answer(session_id: str, prompt_id: str) -> dict[str, Any] | None:
    row = (
        Message.objects.filter(session_id=session_id, id__gt=prompt_id, data__parentID=prompt_id)
        .order_by("-id")
        .first()
    )
    return message_wire(row) if row else None


def rendered(session_id: str, fragments: Sequence[Fragment]) -> list[str]:
    session = session_store.get(session_id)
    return [fragment(session) for fragment in fragments] if session is not None else []


def compact(events: Sequence[bus.Event]) -> list[bus.Event]:
    """The same effect in fewer events: last updates only, adjacent deltas of a part as one."""
    return _merged_deltas(_superseded_dropped(events))


def _merged_deltas(events: Sequence[bus.Event]) -> list[bus.Event]:
    merged: list[bus.Event] = []
    for event in events:
        if merged and _follows(merged[-1], event):
            before = merged[-1].properties
            together = before | {"delta": before["delta"] + event.properties["delta"]}
            merged[-1] = replace(merged[-1], properties=together)
        else:
            merged.append(event)
    return merged


def _follows(before: bus.Event, event: bus.Event) -> bool:
    if not before.type == event.type == "message.part.delta":
        return False
    first, second = before.properties, event.properties
    ends_at = first["offset"] + len(first["delta"])
    return bool(first["partID"] == second["partID"] and ends_at == second["offset"])


def _superseded_dropped(events: Sequence[bus.Event]) -> list[bus.Event]:
    """Without the events of a part or message that a later update of the same one makes needless."""
    kept: list[bus.Event] = []
    settled: set[str] = set()
    for event in reversed(events):
        key = _subject(event)
        if key in settled and event.type in ("message.updated", "message.part.updated", "message.part.delta"):
            continue
        kept.append(event)
        if event.type in ("message.updated", "message.part.updated"):
            settled.add(key)
    return kept[::-1]


def _subject(event: bus.Event) -> str:
    properties = event.properties
    match event.type:
        case "message.part.updated":
            return str(properties["part"]["id"])
        case "message.part.delta":
            return str(properties["partID"])
        case "message.updated":
            return str(properties["info"]["id"])
    return ""
