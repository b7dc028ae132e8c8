"""Texts that still stream while a client comes back: what it missed of them is read from their rows.

Deltas are sent and not logged, and a row has what was said until its last fold. So a text is told whole from
its row first, and what comes of it is held until the row has all that came before that.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sessions import bus
from sessions.db import in_db
from sessions.ids import now
from sessions.models import Message, Part, Session
from sessions.store import events
from sessions.store.rows import part_wire

LOOK_SECONDS = 0.1
"""How often a row is looked at while something of its text is held; rows are folded every 0.25 s."""


@dataclass
class OpenTexts:
    """For one client; `_told` is how many characters it was told of each text."""

    _told: dict[str, int] = field(default_factory=dict)
    _held: dict[str, list[bus.Event]] = field(default_factory=dict)
    _first: list[bus.Event] = field(default_factory=list)

    @classmethod
    def of(cls, project_id: str = "") -> OpenTexts:
        """What streams now, in a project or in all. On the ORM's thread."""
        found = cls()
        sessions = Session.objects.filter(time_deleted=None).exclude(status__type="idle")
        if project_id:
            sessions = sessions.filter(project_id=project_id)
        busy = dict(sessions.values_list("id", "project_id"))
        said = Message.objects.filter(session_id__in=busy, role="assistant")
        open_messages = said.exclude(data__time__has_key="completed").values("id")
        texts = Part.objects.filter(message_id__in=open_messages, type__in=("text", "reasoning"))
        for row in texts.filter(data__has_key="time").exclude(data__time__has_key="end").order_by("id"):
            found._first.append(found._whole(row, busy[row.session_id]))
        return found

    def begin(self) -> list[bus.Event]:
        """Each text as its row has it."""
        return self._first

    @property
    def late(self) -> bool:
        """Whether something is held."""
        return bool(self._held)

    def patience(self, seconds: float) -> float:
        """How long to wait for the next events."""
        return LOOK_SECONDS if self._held else seconds

    async def whole(self, told: Iterable[bus.Event]) -> list[bus.Event]:
        """Events as they may be sent: none of a text before what it goes on from."""
        ready = [event for event in told if self._is_ready(event)]
        ready = [cut for event in ready if (cut := self._new_of(event)) is not None]
        return ready + await in_db(self._filled) if self._held else ready

    def _is_ready(self, event: bus.Event) -> bool:
        part_id = _part_of(event)
        if part_id not in self._told:
            return True
        if event.type != "message.part.delta":  # it has the whole text
            self._forget(part_id)
            return True
        if part_id in self._held or event.properties["offset"] > self._told[part_id]:
            self._held.setdefault(part_id, []).append(event)
            return False
        return True

    def _new_of(self, event: bus.Event) -> bus.Event | None:
        """A delta without what was told of it from the row; None when that is all of it."""
        part_id = _part_of(event)
        if event.type != "message.part.delta" or part_id not in self._told:
            return event
        delta, offset = event.properties["delta"], event.properties["offset"]
        known = self._told[part_id]
        self._told[part_id] = max(known, offset + len(delta))
        if offset == known:
            return event
        rest = delta[known - offset :]
        return (
            replace(event, properties={**event.properties, "delta": rest, "offset": known}) if rest else None
        )

    def _filled(self) -> list[bus.Event]:
        """Texts whose rows have caught up with what is held of them."""
        found: list[bus.Event] = []
        for part_id, held in list(self._held.items()):
            row = Part.objects.filter(id=part_id).first()
            if row is None:
                self._forget(part_id)
            elif len(row.data.get("text", "")) >= held[0].properties["offset"]:
                del self._held[part_id]
                found.append(self._whole(row, held[0].project_id))
                found += [cut for event in held if (cut := self._new_of(event)) is not None]
        return found

    def _whole(self, row: Part, project_id: str) -> bus.Event:
        self._told[row.id] = len(row.data.get("text", ""))
        return bus.Event(
            "message.part.updated",
            {"sessionID": row.session_id, "part": part_wire(row), "time": now()},
            project_id=project_id,
            session_id=row.session_id,
            directory=events.directory_of(row.session_id),
        )

    def _forget(self, part_id: str) -> None:
        self._told.pop(part_id, None)
        self._held.pop(part_id, None)


def _part_of(event: bus.Event) -> str:
    if event.type == "message.part.delta":
        return str(event.properties["partID"])
    return str(event.properties["part"]["id"]) if event.type == "message.part.updated" else ""
