"""Prompts from their admission on, as clients that gave them an id ask for them again."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from sessions.api.v2.projection import log
from sessions.api.v2.projection.timeline import entries, resolve
from sessions.core.models import AdmittedPrompt, Message, Session
from sessions.core.wire.v2.prompts import InputAdmitted, prompt_of


class Conflict(Exception):
    """The id is that of something else."""


def is_known(session_id: str, prompt_id: str, parts: list[dict[str, Any]]) -> bool:
    """Whether exactly this was admitted before. Raises Conflict."""
    known = _parts(session_id, prompt_id)
    if known is None:
        return False
    same(known, parts)
    return True


def same(known: list[dict[str, Any]], parts: list[dict[str, Any]]) -> None:
    """Raises Conflict when two prompts are not the same."""
    if prompt_of(known) != prompt_of(parts):
        raise Conflict


def admitted(session_id: str, prompt_id: str) -> InputAdmitted | None:
    """None for a prompt that is no more. Its delivery, time and cursors are only in the log: of a prompt that
    is older than that they are told as `queue` and 0."""
    parts = _parts(session_id, prompt_id)
    if parts is None:
        return None
    waiting = AdmittedPrompt.objects.filter(id=prompt_id).first()
    logged = log.of_prompt(session_id, prompt_id, promoted=False)
    return InputAdmitted(
        admitted_seq=log.cursor_of(logged) or 0,
        id=prompt_id,
        session_id=session_id,
        prompt=prompt_of(parts),
        delivery=waiting.delivery if waiting else logged.stage if logged else "queue",
        time_created=waiting.time_created if waiting else logged.time_created if logged else 0,
        promoted_seq=log.cursor_of(log.of_prompt(session_id, prompt_id, promoted=True)),
    )


def is_idle(session_id: str) -> bool:
    """Whether nothing runs and nothing waits that would run by itself; also of a session that is deleted."""
    row = Session.objects.filter(id=session_id, time_deleted=None).first()
    if row is None:
        return True
    at_work = row.status.get("type", "idle") != "idle"
    waits = AdmittedPrompt.objects.filter(session=row, resume=True).exists()
    return not (at_work or waits or _begins(row))


def _begins(session: Session) -> bool:
    """Whether a prompt has been promoted just now: the status follows."""
    if not session.lease_owner:
        return False
    last = Message.objects.filter(session=session).order_by("-id").first()
    return last is not None and last.role == "user" and not session.revert


def _parts(session_id: str, prompt_id: str) -> list[dict[str, Any]] | None:
    """Of a prompt that waits or is a message. Raises Conflict when the id is another session's, or an
    answer's."""
    waiting = AdmittedPrompt.objects.filter(id=prompt_id).first()
    if waiting is not None:
        if waiting.session_id != session_id:
            raise Conflict
        return list(waiting.parts)
    row = Message.objects.filter(id=resolve(session_id, prompt_id)).first()
    if row is None:
        return None
    if row.session_id != session_id or row.role != "user":
        raise Conflict
    return list(entries(session_id, Q(id=row.id))[0]["parts"])
