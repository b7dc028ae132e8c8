"""Events of the bus as the second protocol tells them: the first protocol's, and its own made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sessions import bus
from sessions.api.stream import DISPOSED, INTERNAL
from sessions.db import in_db
from sessions.ids import now
from sessions.models import Part
from sessions.projection import log
from sessions.store import messages
from sessions.wire import ours
from sessions.wire.session import PermissionInfo
from sessions.wire.v2 import events
from sessions.wire.v2.base import LocationRef
from sessions.wire.v2.events import PREFIX, EventV2
from sessions.wire.v2.requests import permission_of

Wire = dict[str, Any]
Maker = tuple[type[events.Told], str, str]
"""The kind of event that a part's deltas are, and the name and value of the field for its id."""

_NOT_TOLD = INTERNAL | ours.EVENTS | {DISPOSED, "server.heartbeat"}
_ASKED = {"question.asked", "question.replied", "question.rejected", "permission.replied"}
_MOST_KNOWN = 1000


class Translation:
    """For one client; knows which kind of text each streaming part is."""

    def __init__(self) -> None:
        self._kinds: dict[str, Maker | None] = {}

    async def of(self, told: Sequence[bus.Event]) -> list[Wire]:
        seqs = [event.seq for event in told if event.seq is not None and log.tells(event)]
        logged = await in_db(log.of, seqs) if seqs else {}
        found: list[Wire] = []
        for event in told:
            found += [item.wire() for item in _as_before(event)]
            if event.type == "message.part.delta":
                found += [item.wire() for item in await self._delta(event)]
            for item in logged.get(event.seq or 0, ()):
                found.append(item.model_copy(update={"location": _location(event)}).wire())
        return found

    async def _delta(self, event: bus.Event) -> list[EventV2]:
        part_id = event.properties["partID"]
        if part_id not in self._kinds:
            if len(self._kinds) >= _MOST_KNOWN:
                self._kinds.clear()
            self._kinds[part_id] = await in_db(_maker, part_id)
        maker = self._kinds[part_id]
        if maker is None:
            return []
        kind, name, value = maker
        about = {"timestamp": now(), "session_id": event.session_id, name: value}
        words = event.properties["delta"]
        told = (
            kind(**about, text=words)
            if kind is events.CompactionDelta
            else kind(**about, message_id=event.properties["messageID"], delta=words)
        )
        return [_event(event, f"{PREFIX}{kind.kind}", told.wire())]


def _maker(part_id: str) -> Maker | None:
    """None for a part that is gone."""
    row = Part.objects.filter(id=part_id).select_related("message").first()
    if row is None:
        return None
    if row.message.data.get("summary"):
        return events.CompactionDelta, "message_id", messages.known_as(row.message.data["parentID"])
    if row.type == "reasoning":
        return events.ReasoningDelta, "reasoning_id", part_id
    return events.TextDelta, "text_id", part_id


def _as_before(event: bus.Event) -> Iterator[EventV2]:
    """As the first protocol tells it, and what only has another name in the second."""
    if event.type in _NOT_TOLD or event.type.startswith(PREFIX):
        return
    data = ours.event(event.type, event.properties)
    yield _event(event, event.type, data)
    if event.type == "permission.asked":
        asked = permission_of(PermissionInfo.model_validate(event.properties))
        yield _event(event, "permission.v2.asked", asked.wire())
    elif event.type in _ASKED:
        subject, what = event.type.split(".")
        yield _event(event, f"{subject}.v2.{what}", data)


def _event(event: bus.Event, type: str, data: Wire) -> EventV2:
    return EventV2(id=event.id, type=type, location=_location(event), data=data)


def _location(event: bus.Event) -> LocationRef | None:
    return LocationRef(directory=event.directory) if event.directory else None
