"""Permission requests and saved rules (seed 004 §7.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from sessions.ids import ascending, now
from sessions.models import PermissionRequest, SavedRule, Session

from . import events
from .rows import permission_info

REPLIES = ("once", "always", "reject")


def ask(
    session: Session,
    *,
    message_id: str,
    call_id: str,
    agent: str,
    permission: str,
    patterns: Sequence[str],
    always: Sequence[str],
    metadata: dict[str, Any],
    arguments_hash: str,
) -> PermissionRequest:
    with transaction.atomic():
        row = PermissionRequest.objects.create(
            id=ascending("per"),
            session=session,
            message_id=message_id,
            call_id=call_id,
            agent=agent,
            permission=permission,
            patterns=list(patterns),
            always=list(always),
            metadata=metadata,
            arguments_hash=arguments_hash,
            time_created=now(),
        )
        _record(row, "permission.asked", permission_info(row).wire())
    return row


def reply(request_id: str, answer: str, words: str = "") -> PermissionRequest | None:
    """Answer a pending request once; None when it is unknown, answered, cancelled or its session deleted.

    `always` saves its patterns as allow rules of the project. The answer takes effect by the
    worker reading the row.
    """
    if answer not in REPLIES:
        raise ValueError(f"a reply is one of {', '.join(REPLIES)}, not {answer!r}")
    with transaction.atomic():
        waiting = PermissionRequest.objects.filter(id=request_id, state="pending", session__time_deleted=None)
        taken = waiting.update(state=answer, words=words, time_answered=now())
        row = PermissionRequest.objects.select_related("session").filter(id=request_id).first()
        if not taken or row is None:
            return None
        if answer == "always":
            _save_rules(row)
        _replied(row, answer)
    return row


def cancel(session_id: str) -> None:
    """The turn ended: its pending requests can no longer be answered."""
    with transaction.atomic():
        for row in PermissionRequest.objects.filter(session_id=session_id, state="pending"):
            row.state, row.time_answered = "cancelled", now()
            row.save(update_fields=["state", "time_answered"])
            _replied(row, "reject")


def pending(*, session_id: str = "", project_id: str = "") -> list[PermissionRequest]:
    rows = PermissionRequest.objects.filter(state="pending", session__time_deleted=None)
    if session_id:
        rows = rows.filter(session_id=session_id)
    if project_id:
        rows = rows.filter(session__project_id=project_id)
    return list(rows.order_by("id"))


def pending_below(session_id: str) -> list[PermissionRequest]:
    """What waits for an answer in a session and in all that it started, oldest first."""
    rows = PermissionRequest.objects.filter(state="pending", session_id__in=family(session_id))
    return list(rows.select_related("session").order_by("id"))


def family(session_id: str) -> list[str]:
    """A session, the ones it started, and all that those started."""
    found, newest = [session_id], [session_id]
    while newest:
        children = Session.objects.filter(parent_id__in=newest, time_deleted=None)
        newest = list(children.values_list("id", flat=True))
        found += newest
    return found


def get(request_id: str) -> PermissionRequest | None:
    return PermissionRequest.objects.select_related("session").filter(id=request_id).first()


def saved_rules(project_id: str) -> list[SavedRule]:
    return list(SavedRule.objects.filter(project_id=project_id).order_by("id"))


def _save_rules(row: PermissionRequest) -> None:
    for pattern in row.always:
        SavedRule.objects.get_or_create(
            project_id=row.session.project_id,
            permission=row.permission,
            pattern=pattern,
            defaults={"origin": row.id, "time_created": now()},
        )


def _replied(row: PermissionRequest, answer: str) -> None:
    properties = {"sessionID": row.session_id, "requestID": row.id, "reply": answer}
    _record(row, "permission.replied", properties)


def _record(row: PermissionRequest, type: str, properties: dict[str, Any]) -> None:
    events.record(
        type,
        properties,
        project=row.session.project_id,
        session=row.session_id,
        reference={"requestID": row.id},
    )
