"""A stop is a row, so that it cannot be lost; it takes back the prompt that the model was not asked about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from sessions.models import Admission, AdmittedPrompt, Message, Part, Session
from sessions.store import events, messages, resumption
from sessions.store.rows import part_wire

from .changes import is_written, unplaced
from .waiting import next_when_idle, record

BEFORE = "Stopped before the model was asked; the prompt was taken back."


def stop(session_id: str) -> None:
    """The turn that runs is to end, and with it what it was about to begin; where none runs, what is to go on
    or waits next is taken back."""
    with transaction.atomic():
        row = Session.objects.select_for_update().filter(id=session_id).first()
        if row is None:
            return
        if row.lease_owner:
            Session.objects.filter(id=session_id).update(stop_epoch=row.lease_epoch)
        else:
            take_back(row, waiting=any(prompt.resume for prompt in next_when_idle(session_id)))


def take_back(session: Session, unasked: Sequence[str] = (), *, waiting: bool) -> None:
    """Remove from the history the `unasked` messages that a person wrote, and do not go on with the turn that
    is due; or with `waiting`, where there are none, remove from the inbox what would be promoted next. Call
    it inside `atomic`."""
    was_due = resumption.withdraw(session.id)
    found = [row for row in Message.objects.filter(id__in=unasked).order_by("id") if _written(_parts(row))]
    for row in found:
        _offer(session, row.prompt_id or row.id, _parts(row))
        record(session, row.prompt_id or row.id, withdrawn=True, stopped=True)
    if found:
        messages.remove_messages(session.id, found[0].id)
    for prompt in next_when_idle(session.id) if waiting and not unasked and not was_due else ():
        _offer(session, prompt.id, prompt.parts)
        record(session, prompt.id, withdrawn=True, stopped=True)
        AdmittedPrompt.objects.filter(id=prompt.id).delete()
        found.append(Message(id=prompt.id))
    if found:
        error = {"name": "MessageAbortedError", "data": {"message": BEFORE}}
        events.record(
            "session.error",
            {"sessionID": session.id, "error": error},
            project=session.project_id,
            session=session.id,
        )


def stopped(session_id: str, prompt_id: str = "") -> list[Admission]:
    """The prompts that were stopped and nobody took back into the composer yet, oldest first."""
    rows = Admission.objects.filter(session_id=session_id).exclude(stopped=None)
    return list((rows.filter(id=prompt_id) if prompt_id else rows).order_by("time_created", "id"))


def let_go(session_id: str, prompt_id: str) -> bool:
    """It is in the composer again, or not wanted; False when that came too late."""
    with transaction.atomic():
        row = next(iter(stopped(session_id, prompt_id)), None)
        if row is None:
            return False
        Admission.objects.filter(id=row.id).update(stopped=None)
        record(row.session, prompt_id)
    return True


def _offer(session: Session, prompt_id: str, parts: list[dict[str, Any]]) -> None:
    """A child's prompt is its parent's, which learns of the stop by its call."""
    if session.parent_id is None and _written(parts):
        Admission.objects.filter(id=prompt_id).update(stopped=unplaced(parts))


def _written(parts: list[dict[str, Any]]) -> bool:
    return any(is_written(part) for part in parts)


def _parts(row: Message) -> list[dict[str, Any]]:
    return [part_wire(part) for part in Part.objects.filter(message=row).order_by("id")]
