"""The part that ends a step which changed files."""

from __future__ import annotations

from sessions.ids import ascending
from sessions.models import FileChange, Part
from sessions.models.ledger import shown
from sessions.wire.messages import AssistantMessage
from sessions.wire.parts import PatchPart

from . import messages


def put_patch(message: AssistantMessage) -> None:
    """Name the files that a step's calls changed, with the snapshot that it began with (empty where there was
    none yet); nothing for a step that changed none."""
    paths = FileChange.objects.filter(
        session_id=message.session_id, message_id=message.id, operation=None
    ).values_list("path", flat=True)
    files = sorted({shown(f"{message.path.root}/{path}") for path in paths})
    if files:
        began = Part.objects.filter(message_id=message.id, type="step-start").order_by("id").first()
        messages.put_part(
            PatchPart(
                id=ascending("prt"),
                session_id=message.session_id,
                message_id=message.id,
                hash=str(began.data.get("snapshot", "")) if began else "",
                files=files,
            )
        )
