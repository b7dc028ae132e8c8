"""The rows that a stretch of the log speaks of, read at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import Q

from sessions.api.v2.projection.timeline import Entry, entries, shell_prompts
from sessions.core.models import AdmittedPrompt, ContextMessage, Event, Message, Part, Session
from sessions.core.store.rows import message_wire, part_wire

Wire = dict[str, Any]


class Rows:
    """Each by its id, as it is now; what is gone is not there."""

    def __init__(self, logged: Iterable[Event]) -> None:
        logged = list(logged)
        named = {str(row.reference.get("messageID", "")) for row in logged}
        promoted = {str(row.reference["promoted"]) for row in logged if "promoted" in row.reference}
        parts = Part.objects.in_bulk({row.reference["partID"] for row in logged if "partID" in row.reference})
        self.parts: dict[str, Wire] = {key: part_wire(row) for key, row in parts.items()}
        said = Message.objects.in_bulk(named)
        self.messages: dict[str, Wire] = {key: message_wire(row) for key, row in said.items()}
        self.waiting = AdmittedPrompt.objects.in_bulk(named)
        self.told = ContextMessage.objects.in_bulk(named)
        self.sessions = Session.objects.in_bulk({row.session_id for row in logged})
        self.prompts = _prompts(promoted, _admitted(logged))
        self.shells = shell_prompts(
            {info["parentID"] for info in self.messages.values() if "parentID" in info}
        )

    def part(self, logged: Event) -> Wire | None:
        return self.parts.get(str(logged.reference.get("partID")))

    def message(self, logged: Event) -> Wire | None:
        return self.messages.get(str(logged.reference.get("messageID")))


def _admitted(logged: Iterable[Event]) -> set[str]:
    return {str(row.reference["messageID"]) for row in logged if row.type == "session.inbox" and row.stage}


def _prompts(promoted: set[str], admitted: set[str]) -> dict[str, Entry]:
    """Prompts that are messages by now, by the id that they were admitted with and by their own."""
    which = Q(id__in=promoted) | Q(id__in=admitted) | Q(prompt_id__in=admitted - {""})
    found: dict[str, Entry] = {}
    for session_id in set(Message.objects.filter(which).values_list("session_id", flat=True)):
        for entry in entries(session_id, which):
            found[entry["info"]["id"]] = found[entry["shown"]] = entry
    return found
