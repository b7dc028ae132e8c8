"""What a person can do to a prompt until it is promoted; False always means that this came too late."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from sessions.models import AdmittedPrompt

from .admission import check
from .waiting import Delivery, locked, record


def is_written(part: dict[str, Any]) -> bool:
    """Whether a person wrote this part of a prompt, rather than attached it or a tool gave it."""
    if part["type"] == "file":
        return bool(mentioned(part))
    return part["type"] in ("text", "agent") and not part.get("synthetic")


def attached(parts: list[dict[str, Any]]) -> int:
    """How many files there are in a prompt."""
    return sum(part["type"] == "file" and not part.get("synthetic") for part in parts)


def unplaced(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts of a message, as those of a prompt that is to be sent."""
    places = ("id", "sessionID", "messageID")
    return [{key: value for key, value in part.items() if key not in places} for part in parts]


def mentioned(part: dict[str, Any]) -> str:
    """The words of the text that a file part stands for; empty for a file beside the text."""
    text = (part.get("source") or {}).get("text")
    by_address = not str(part.get("url")).startswith("data:")
    return str(text.get("value") or "") if by_address and isinstance(text, dict) else ""


def edit(session_id: str, prompt_id: str, written: list[dict[str, Any]]) -> bool:
    """Put text and mentions in place of those it has; what is attached stays.

    Raises PromptRefused when nothing would be left.
    """
    with transaction.atomic():
        row = locked().filter(session_id=session_id, id=prompt_id).first()
        if row is None:
            return False
        row.parts = [*written, *(part for part in row.parts if not is_written(part))]
        check(row.parts)
        row.save(update_fields=["parts"])
        record(row.session, prompt_id)
    return True


def move(session_id: str, prompt_id: str, by: int) -> bool:
    """Change places with the one before (-1) or after (1) of the same delivery, if there is one."""
    with transaction.atomic():
        rows = list(locked().filter(session_id=session_id))
        row = next((row for row in rows if row.id == prompt_id), None)
        if row is None:
            return False
        order = [other for other in rows if other.delivery == row.delivery]
        place = order.index(row) + by
        if 0 <= place < len(order):
            other = order[place]
            row.position, other.position = other.position, row.position
            AdmittedPrompt.objects.bulk_update([row, other], ["position"])
            record(row.session, prompt_id)
    return True


def switch(session_id: str, prompt_id: str, delivery: Delivery) -> bool:
    """Let it steer, or queue it; it keeps its place among those of its new kind by its age or moves."""
    with transaction.atomic():
        row = locked().filter(session_id=session_id, id=prompt_id).first()
        if row is None:
            return False
        row.delivery = delivery
        row.save(update_fields=["delivery"])
        record(row.session, prompt_id)
    return True


def withdraw(session_id: str, prompt_id: str) -> bool:
    """Take it back."""
    with transaction.atomic():
        row = locked().filter(session_id=session_id, id=prompt_id).first()
        if row is None:
            return False
        record(row.session, prompt_id, withdrawn=True)
        row.delete()
    return True
