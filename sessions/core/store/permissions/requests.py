"""Permission requests: asked, answered once, withdrawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from sessions.core import workers
from sessions.core.db import durable
from sessions.core.ids import ascending, now
from sessions.core.models import PermissionRequest, SavedRule, Session
from sessions.core.store import events, family, notifiers
from sessions.core.store.rows import permission_info

from . import audit, saved
from .audit import Call
from .replies import Answer, check_another

APP = "appProcess"
"""In the metadata of a request of an app: the process that it asks through."""


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
    id: str = "",
) -> PermissionRequest:
    with transaction.atomic():
        row = PermissionRequest.objects.create(
            id=id or ascending("per"),
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
        notifiers.asked(session, "permission", row.id)
    return row


def reply(
    request_id: str,
    answer: str,
    words: str = "",
    *,
    hash: str = "",
    scope: str = "project",
    minutes: int = 0,
    patterns: Sequence[str] | None = None,
    replacement: Mapping[str, str | None] | None = None,
    actor: str = "",
) -> PermissionRequest | None:
    """Answer a pending request once; None when it is unknown, answered, cancelled or its session deleted.

    For the arguments see `Answer`; ValueError for one that there is not. Raises ReplyRefused: StaleReply,
    BadPattern, BadReplacement, OfTheSame. `always` saves rules. A rejection answers all that the session asks
    at the same time, for the model or for apps. The answer takes effect by the worker reading the row.
    """
    given = Answer(answer, words, hash, scope, minutes, patterns, dict(replacement or {}), actor)
    with durable(), transaction.atomic():
        row = _pending().select_related("session").filter(id=request_id).first()
        if row is None:
            return None
        given.check(row)
        if given.reply != "reject":
            check_another(row.session, row.message_id, given.actor)
        if not _settle(row, given.state, words=words, actor=actor, replacement=dict(given.replacement)):
            return None
        _decided(row, given)
    return row


def allow_by_rules(request_id: str, rules: Sequence[SavedRule]) -> bool:
    """Rules that were saved meanwhile answer a pending request; whether it still waited."""
    with transaction.atomic():
        row = _pending().select_related("session").filter(id=request_id).first()
        if row is None or not _settle(row, "once"):
            return False
        saved.used(Call.of(row), rules)
    return True


def allow_by_preset(request_id: str, preset: str) -> bool:
    """A preset that was chosen meanwhile answers a pending request; whether it still waited."""
    with transaction.atomic():
        row = _pending().select_related("session").filter(id=request_id).first()
        if row is None or not _settle(row, "once"):
            return False
        audit.note(Call.of(row), "allow", "preset", rule=preset)
    return True


def withdraw(request_id: str, words: str) -> PermissionRequest | None:
    """The call no longer wants what it asked for, allowed already or not: that is noted, and a request that
    waits is cancelled. The request as it is then; None when it is unknown."""
    with transaction.atomic():
        row = get(request_id)
        if row is not None and (_settle(row, "cancelled", words=words) or row.state != "reject"):
            audit.note(Call.of(row), "cancel", "call", words=words)
    return row


def cancel(session_id: str) -> set[str]:
    """The turn ended: its pending requests can no longer be answered. The ids of the calls that waited."""
    with transaction.atomic():
        return {row.call_id for row in _waiting_with(session_id) if not app_of(row) and _cancel(row)}


def cancel_call(session_id: str, call_id: str) -> None:
    """The same for one call, of an app."""
    with transaction.atomic():
        for row in _waiting_with(session_id):
            if row.call_id == call_id:
                _cancel(row)


def cancel_orphans() -> None:
    """What apps have asked through a process that is gone."""
    with transaction.atomic():
        for row in _pending().select_related("session"):
            if (process := app_of(row)) and workers.is_dead(process):
                _cancel(row)


def app_of(row: PermissionRequest) -> str:
    """The process through which an app of an MCP server asks; empty where the model does."""
    return str(row.metadata.get(APP, ""))


def pending(*, session_id: str = "", project_id: str = "") -> list[PermissionRequest]:
    rows = _pending()
    if session_id:
        rows = rows.filter(session_id=session_id)
    if project_id:
        rows = rows.filter(session__project_id=project_id)
    return list(rows.order_by("id"))


def pending_below(session_id: str) -> list[PermissionRequest]:
    """What waits for an answer in a session and in all that it started, oldest first."""
    rows = PermissionRequest.objects.filter(state="pending", session_id__in=family.of(session_id))
    return list(rows.select_related("session").order_by("id"))


def inbox() -> list[PermissionRequest]:
    """What waits for an answer anywhere, oldest first."""
    return list(_pending().select_related("session__project", "session__parent").order_by("id"))


def get(request_id: str) -> PermissionRequest | None:
    return PermissionRequest.objects.select_related("session").filter(id=request_id).first()


def _decided(row: PermissionRequest, given: Answer) -> None:
    if given.reply == "reject":
        audit.note(Call.of(row), "deny", "person", words=given.words)
        for other in _waiting_with(row.session_id):
            if bool(app_of(other)) == bool(app_of(row)) and _settle(
                other, "reject", words=given.words, actor=given.actor
            ):
                audit.note(Call.of(other), "deny", "person", words=given.words)
        return
    rules = saved.save(row, given) if given.state == "always" else []
    scope = given.scope if rules else "once"
    audit.note(Call.of(row), "allow", "person", rule=audit.in_words(rules), scope=scope, words=given.words)


def _pending() -> QuerySet[PermissionRequest]:
    return PermissionRequest.objects.filter(state="pending", session__time_deleted=None)


def _waiting_with(session_id: str) -> list[PermissionRequest]:
    rows = PermissionRequest.objects.filter(session_id=session_id, state="pending")
    return list(rows.select_related("session").order_by("id"))


def _cancel(row: PermissionRequest) -> bool:
    """Whether it still waited."""
    if not _settle(row, "cancelled"):
        return False
    audit.note(Call.of(row), "cancel", "stop")
    return True


def _settle(row: PermissionRequest, state: str, **columns: Any) -> bool:
    """Give a pending request its state, unless somebody else just did; tells whether it took."""
    columns |= {"state": state, "time_answered": now()}
    if not PermissionRequest.objects.filter(id=row.id, state="pending").update(**columns):
        return False
    for name, value in columns.items():
        setattr(row, name, value)
    answer = state if state in ("once", "always") else "reject"
    properties = {"sessionID": row.session_id, "requestID": row.id, "reply": answer}
    _record(row, "permission.replied", properties)
    return True


def _record(row: PermissionRequest, type: str, properties: dict[str, Any]) -> None:
    events.record(type, properties, project=row.session.project_id, session=row.session_id)
