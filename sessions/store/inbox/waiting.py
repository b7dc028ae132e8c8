"""What waits, read and locked; the event that tells of it."""

from __future__ import annotations

from typing import Literal

from django.db.models import QuerySet

from sessions.models import AdmittedPrompt, Session
from sessions.store import events

Delivery = Literal["steer", "queue"]


def waiting(session_id: str) -> list[AdmittedPrompt]:
    """Everything that waits, in the order of its promotion: what steers comes before what is queued."""
    rows = AdmittedPrompt.objects.filter(session_id=session_id)
    return sorted(rows, key=lambda row: row.delivery != "steer")


def steering(session_id: str) -> list[AdmittedPrompt]:
    """The prompts that promote at the next safe boundary of a running drain, in order."""
    return list(AdmittedPrompt.objects.filter(session_id=session_id, delivery="steer"))


def next_when_idle(session_id: str) -> list[AdmittedPrompt]:
    """What promotes when nothing is going on: every steering prompt, or else one queued prompt."""
    rows = waiting(session_id)
    return [row for row in rows if row.delivery == "steer"] or rows[:1]


def sessions_waiting() -> list[str]:
    """Ids of sessions with prompts that nobody promoted yet, for the start of a worker."""
    rows = AdmittedPrompt.objects.filter(session__time_deleted=None, session__lease_owner="", resume=True)
    return list(rows.values_list("session_id", flat=True).distinct())


def find(session_id: str, prompt_id: str) -> AdmittedPrompt | None:
    """A prompt, if it still waits."""
    return AdmittedPrompt.objects.filter(session_id=session_id, id=prompt_id).first()


def locked() -> QuerySet[AdmittedPrompt]:
    """Prompts that nobody else changes or promotes until the transaction ends."""
    return AdmittedPrompt.objects.select_related("session").select_for_update(of=("self",))


def record(session: Session, prompt_id: str, stage: str = "", **more: str | bool) -> None:
    """Log that a prompt was admitted or changed; call it inside the transaction that does so. `stage` is its
    delivery when it was admitted or promoted."""
    properties = {"sessionID": session.id, "messageID": prompt_id, **more}
    events.record("session.inbox", properties, project=session.project_id, session=session.id, stage=stage)
