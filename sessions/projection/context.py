"""The messages that a model would be given now (seed 002, Session History)."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from sessions.models import ContextEpoch, ContextMessage, Message, Part, Session
from sessions.projection.timeline import NOTHING, ids_of, shown
from sessions.wire.v2.conversation import is_complete
from sessions.wire.v2.messages import SessionMessage


def in_context(session: Session) -> list[SessionMessage]:
    """The last compaction, the end of the conversation that it kept, and what came after; without what is
    undone and what the model was told in earlier epochs."""
    began = ContextEpoch.objects.filter(session=session).values_list("began", flat=True).first() or ""
    summary = _last_summary(session.id)
    request, kept_from = _compaction(summary)
    ids = [id for id in ids_of(session.id, "", newest=False) if id >= kept_from and id != request]
    gone = set(_told(session.id).filter(id__lt=began).values_list("id", flat=True))
    gone |= set(_summaries(session.id).values_list("id", flat=True))
    if summary is not None:
        gone |= set(_told(session.id).filter(id__lt=summary.id).values_list("id", flat=True))
        gone |= _earlier_requests(session.id, summary.id)
    undone = session.revert or {}
    point, part = undone.get("messageID"), undone.get("partID")
    kept = [id for id in ids if id not in gone and (not point or id < point or (part and id == point))]
    rows = [request, *kept] if request else kept
    without = Q(message_id=point, id__gte=part) if part else NOTHING
    return [message for _, message in shown(session.id, rows, without=without)]


def _summaries(session_id: str) -> QuerySet[Message]:
    """Also those that were begun and not completed."""
    rows = Message.objects.filter(session_id=session_id, role="assistant", data__summary=True)
    return rows.order_by("-id")


def _last_summary(session_id: str) -> Message | None:
    return next((row for row in _summaries(session_id) if is_complete(row.data)), None)


def _compaction(summary: Message | None) -> tuple[str, str]:
    """The prompt that a summary answers, and the first id that is still given; both empty without one."""
    if summary is None:
        return "", ""
    request = str(summary.data["parentID"])
    asked = Part.objects.filter(message_id=request, type="compaction").first()
    return request, (asked.data.get("tail_start_id") if asked else "") or summary.id


def _told(session_id: str) -> QuerySet[ContextMessage]:
    return ContextMessage.objects.filter(session_id=session_id).order_by()


def _earlier_requests(session_id: str, summary: str) -> set[str]:
    """Requests for compactions before the last one: their summaries went into its own."""
    rows = Part.objects.filter(session_id=session_id, type="compaction", message_id__lt=summary)
    return set(rows.values_list("message_id", flat=True))
