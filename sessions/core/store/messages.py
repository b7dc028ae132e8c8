"""Messages and parts: put (insert or replace), remove, read in order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from sessions.core import bus, fence
from sessions.core.ids import now
from sessions.core.models import Message, Part
from sessions.core.prepared import Prepared, Upsert
from sessions.core.wire.messages import AssistantMessage, UserMessage
from sessions.core.wire.parts import Part as WirePart
from sessions.core.wire.parts import ReasoningPart, Running, TextPart, ToolPart

from . import context, events, index, switches
from . import sessions as session_store
from .rows import message_data, message_wire, part_data, part_wire, project_of

_messages, _parts = Upsert(Message, kept=["prompt_id"]), Upsert(Part)


@dataclass(frozen=True, slots=True)
class Page:
    """`entries` are `{"info", "parts"}`, oldest first. `before` is the info of the first when others come
    before it, else None."""

    entries: list[dict[str, Any]]
    before: dict[str, Any] | None


def put_message(message: UserMessage | AssistantMessage, parts: Sequence[WirePart] = ()) -> None:
    """Insert or replace a message, and then parts of it."""
    wire = message.wire()
    row = Message(
        id=message.id,
        session_id=message.session_id,
        role=message.role,
        time_created=message.time.created,
        data=message_data(message),
    )
    with events.together():
        _messages.put([row])
        index.written(row)
        record(
            message.session_id,
            "message.updated",
            {"sessionID": message.session_id, "info": wire},
            {"messageID": message.id},
            "failed" if isinstance(message, AssistantMessage) and message.error else "",
        )
        if isinstance(message, AssistantMessage) and message.summary:
            compacting = None if message.time.completed else message.time.created
            session_store.update(message.session_id, time_compacting=compacting)
        if parts:
            _put_parts(parts)


def close_unreadable(row: Message, words: str) -> None:
    """End a message that cannot be read, with what there is to say of it, and leave the rest as it is."""
    data = dict(row.data) if isinstance(row.data, dict) else {}
    time = data.get("time")
    data["time"] = {**(time if isinstance(time, dict) else {"created": row.time_created}), "completed": now()}
    data["error"] = {"name": "UnknownError", "data": {"message": words}}
    Message.objects.filter(id=row.id).update(data=data)
    index.touch([row.id])
    info = {"id": row.id, "sessionID": row.session_id, "role": row.role, **data}
    properties = {"sessionID": row.session_id, "info": info}
    record(row.session_id, "message.updated", properties, {"messageID": row.id}, "failed")


def put_part(part: WirePart) -> None:
    """Insert or replace a part."""
    put_parts([part])


def put_parts(parts: Iterable[WirePart], *, quiet: bool = False) -> None:
    """Insert or replace parts in one transaction; `quiet` folds streamed text in without an event."""
    parts = list(parts)
    with events.together():
        if quiet:
            _parts.put([_part_row(part) for part in parts])
            return
        index.touch(part.message_id for part in parts)
        _put_parts(parts)


def _put_parts(parts: Sequence[WirePart]) -> None:
    _parts.put([_part_row(part) for part in parts])
    for part in parts:
        record(
            part.session_id,
            "message.part.updated",
            {"sessionID": part.session_id, "part": part.wire(), "time": now()},
            {"messageID": part.message_id, "partID": part.id},
            _stage(part),
        )


def _stage(part: WirePart) -> str:
    """How far a part is: a call's status (`progress`: it runs and has told something), a text's `open`."""
    if isinstance(part, ToolPart):
        told = isinstance(part.state, Running) and (part.state.metadata or part.state.title)
        return "progress" if told else part.state.status
    return "open" if isinstance(part, TextPart | ReasoningPart) and part.time and not part.time.end else ""


def _part_row(part: WirePart) -> Part:
    return Part(
        id=part.id,
        message_id=part.message_id,
        session_id=part.session_id,
        type=part.type,
        data=part_data(part),
    )


def publish_delta(project_id: str, part: WirePart, field: str, delta: str, offset: int) -> bool:
    """A transient piece of streaming text: sent, not logged. Returns whether it was: not from a worker that
    may have lost its lease meanwhile.

    `offset` is how many characters came before, so that a listener knows a gap from a repetition.
    """
    if not fence.is_fresh():
        return False
    properties = {
        "sessionID": part.session_id,
        "messageID": part.message_id,
        "partID": part.id,
        "field": field,
        "delta": delta,
        "offset": offset,
    }
    event = bus.Event(
        "message.part.delta",
        properties,
        project_id=project_id,
        session_id=part.session_id,
        directory=events.known_directory(part.session_id),
        epoch=fence.epoch(part.session_id),
    )
    bus.publish(event)
    return True


def remove_messages(session_id: str, from_message: str) -> list[str]:
    """Remove a message and all later ones of its session for good; returns their ids."""
    with transaction.atomic():
        rows = Message.objects.filter(session_id=session_id, id__gte=from_message)
        gone = list(rows.values_list("id", flat=True).order_by("id"))
        rows.delete()
        context.remove_from(session_id, from_message)
        switches.remove_from(session_id, from_message)
        for message_id in gone:
            record(
                session_id,
                "message.removed",
                {"sessionID": session_id, "messageID": message_id},
                {"messageID": message_id},
            )
    return gone


# A history is made of tuples: objects of the rows would be most of the work.


def _newest_first(rows: QuerySet[Message]) -> QuerySet[Any]:
    return rows.order_by("-id").values_list("id", "session_id", "role", "data", named=True)


def _of_messages(rows: QuerySet[Part]) -> QuerySet[Any]:
    order = rows.order_by("message_id", "id")
    return order.values_list("id", "session_id", "message_id", "type", "data", named=True)


_AFTER: Prepared[Any] = Prepared(
    lambda session, after: _newest_first(Message.objects.filter(session_id=session, id__gt=after))
)
_BETWEEN: Prepared[Any] = Prepared(
    lambda session, after, before: _newest_first(
        Message.objects.filter(session_id=session, id__gt=after, id__lt=before)
    )
)
_PARTS: Prepared[Any] = Prepared(
    lambda session, first, last: _of_messages(
        Part.objects.filter(session_id=session, message_id__gte=first, message_id__lte=last)
    )
)


def page(session_id: str, limit: int | None, before: str = "") -> Page:
    """The whole history, or the last `limit` messages before one."""
    if not limit:
        return Page(history(session_id), None)
    found = history(session_id, limit=limit + 1, before=before)
    entries = found[-limit:]
    return Page(entries, entries[0]["info"] if len(found) > limit else None)


def history(
    session_id: str, *, limit: int | None = None, before: str = "", after: str = ""
) -> list[dict[str, Any]]:
    """`[{"info", "parts"}]` of a session in order: all, or the last `limit`, between two message ids."""
    if before:
        messages = _BETWEEN.named(session_id, after, before, limit=limit or None)
    else:
        messages = _AFTER.named(session_id, after, limit=limit or None)
    messages.reverse()
    parts = _parts_of(session_id, messages)
    return [{"info": message_wire(row), "parts": parts.get(row.id, [])} for row in messages]


def count(session_id: str, first: str, before: str = "") -> int:
    """How many messages there are from one on, or from it to before another."""
    rows = Message.objects.filter(session_id=session_id, id__gte=first)
    return (rows.filter(id__lt=before) if before else rows).count()


def _parts_of(session_id: str, messages: Sequence[Message]) -> dict[str, list[dict[str, Any]]]:
    if not messages:
        return {}
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in _PARTS.named(session_id, messages[0].id, messages[-1].id):
        grouped.setdefault(row.message_id, []).append(part_wire(row))
    return grouped


def message(session_id: str, message_id: str) -> dict[str, Any] | None:
    """`{"info", "parts"}` of one message."""
    row = Message.objects.filter(session_id=session_id, id=message_id).first()
    if row is None:
        return None
    return {"info": message_wire(row), "parts": _parts_of(session_id, [row]).get(row.id, [])}


def last_prompt_text(session_id: str) -> str:
    """What was said last to the agent of a session, without what was added for the model."""
    row = Message.objects.filter(session_id=session_id, role="user").order_by("-id").first()
    parts = row.parts.filter(type="text").order_by("id") if row else ()
    return "\n".join(part.data.get("text", "") for part in parts if not part.data.get("synthetic"))


def part(session_id: str, part_id: str) -> dict[str, Any] | None:
    row = Part.objects.filter(session_id=session_id, id=part_id).first()
    return part_wire(row) if row else None


def known_as(message_id: str) -> str:
    """The id that a prompt was admitted with, by which its client knows it; of others their own."""
    rows = Message.objects.filter(id=message_id).exclude(prompt_id="")
    return rows.values_list("prompt_id", flat=True).first() or message_id


def record(
    session_id: str, type: str, properties: dict[str, Any], reference: dict[str, Any], stage: str = ""
) -> None:
    project = project_of(session_id)
    events.record(type, properties, project=project, session=session_id, reference=reference, stage=stage)


def remove_message(session_id: str, message_id: str) -> bool:
    """Remove one message with its parts; whether there was one."""
    with transaction.atomic():
        if not Message.objects.filter(session_id=session_id, id=message_id).delete()[0]:
            return False
        properties = {"sessionID": session_id, "messageID": message_id}
        record(session_id, "message.removed", properties, {"messageID": message_id})
    return True


def change_part(part: WirePart) -> bool:
    """Put a part into a message of its session; False when there is no such message, or when something else
    has its id."""
    ids = {"session_id": part.session_id, "message_id": part.message_id}
    with transaction.atomic():
        if not Message.objects.filter(session_id=part.session_id, id=part.message_id).exists():
            return False
        if Part.objects.filter(id=part.id).exclude(**ids).exists():
            return False
        put_part(part)
    return True


def remove_part(session_id: str, message_id: str, part_id: str) -> bool:
    """Remove one part; whether there was one."""
    with transaction.atomic():
        rows = Part.objects.filter(session_id=session_id, message_id=message_id, id=part_id)
        if not rows.delete()[0]:
            return False
        ids = {"messageID": message_id, "partID": part_id}
        record(session_id, "message.part.removed", {"sessionID": session_id, **ids}, ids)
    return True
