"""What a client changes in a history by hand: one message removed, one part put or removed."""

from __future__ import annotations

from django.db import transaction

from sessions.models import Message, Part
from sessions.wire.parts import Part as WirePart

from . import messages


def remove_message(session_id: str, message_id: str) -> bool:
    """Remove one message with its parts; whether there was one."""
    with transaction.atomic():
        if not Message.objects.filter(session_id=session_id, id=message_id).delete()[0]:
            return False
        properties = {"sessionID": session_id, "messageID": message_id}
        messages.record(session_id, "message.removed", properties, {"messageID": message_id})
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
        messages.put_part(part)
    return True


def remove_part(session_id: str, message_id: str, part_id: str) -> bool:
    """Remove one part; whether there was one."""
    with transaction.atomic():
        rows = Part.objects.filter(session_id=session_id, message_id=message_id, id=part_id)
        if not rows.delete()[0]:
            return False
        ids = {"messageID": message_id, "partID": part_id}
        messages.record(session_id, "message.part.removed", {"sessionID": session_id, **ids}, ids)
    return True
