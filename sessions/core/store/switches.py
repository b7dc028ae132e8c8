"""Other choices for a session (agent, model, folder), told as OpenCode's second protocol tells them."""

from __future__ import annotations

from typing import Any

from sessions.core.ids import now
from sessions.core.models import Session, Switch

from . import events
from .order import next_id

Choice = tuple[str, str, str, str, str]


def choice_of(row: Session) -> Choice:
    """Agent, provider, model, variant and folder."""
    return row.agent, row.provider_id, row.model_id, row.variant, row.directory


def note(row: Session, before: Choice) -> None:
    """Write down what differs from a choice before; call it in the transaction that changed it. The first
    choice of a session that had none is no switch."""
    agent, *model, directory = before
    if row.agent and agent and row.agent != agent:
        _switched(row, "agent", {"agent": row.agent}, agent=row.agent)
    chosen = [row.provider_id, row.model_id, row.variant]
    if row.model_id and model[1] and chosen != model:
        columns = {"provider_id": row.provider_id, "model_id": row.model_id, "variant": row.variant}
        _switched(row, "model", {"model": model_of(row)}, **columns)
    if row.directory != directory:
        _record(row, "moved", {"location": {"directory": row.directory}})


def model_of(row: Session | Switch) -> dict[str, Any]:
    """The wire's reference to a chosen model."""
    variant = {"variant": row.variant} if row.variant else {}
    return {"id": row.model_id, "providerID": row.provider_id, **variant}


def remove_from(session_id: str, message_id: str) -> None:
    """Messages from this one on go for good, and what was switched among them."""
    Switch.objects.filter(session_id=session_id, id__gte=message_id).delete()


def _switched(row: Session, kind: str, told: dict[str, Any], **columns: str) -> None:
    switch = Switch.objects.create(id=next_id(row.id), session=row, time_created=now(), **columns)
    _record(row, f"{kind}.switched", {"messageID": switch.id, **told})


def _record(row: Session, type: str, told: dict[str, Any]) -> None:
    """All of it is in the log: it is small, and what was chosen then is in no row."""
    properties = {"timestamp": now(), "sessionID": row.id, **told}
    events.record(
        f"session.next.{type}", properties, project=row.project_id, session=row.id, reference=properties
    )
