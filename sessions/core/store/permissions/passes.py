"""A denied call that a person lets through once: exactly that one, when the agent makes it again."""

from __future__ import annotations

from django.db import transaction

from sessions.core.ids import now
from sessions.core.models import Decision, Session
from sessions.core.store.permissions.audit import Call, note
from sessions.core.store.permissions.replies import check_another

PASS = "pass"
_LIFTED = ("person", "configuration")
"""Whose denials a person may lift; a plugin's stays, as the person has said that it decides."""


def may_pass(decision: Decision) -> bool:
    """Whether the call that it denied can be let through."""
    return decision.verdict == "deny" and decision.by in _LIFTED and bool(decision.arguments_hash)


def let_through(project_id: str, decision_id: int, actor: str) -> Decision | None:
    """Note that the next such call of the session goes through. None where there is no such denial. Raises
    OfTheSame."""
    found = Decision.objects.filter(project_id=project_id, id=decision_id).first()
    if found is None or not may_pass(found):
        return None
    if session := Session.objects.filter(id=found.session_id).first():
        check_another(session, "", actor)
    return Decision.objects.create(
        project_id=project_id,
        session_id=found.session_id,
        permission=found.permission,
        patterns=found.patterns,
        arguments_hash=found.arguments_hash,
        verdict=PASS,
        by="person",
        actor=actor,
        scope="once",
        rule=str(found.id),
        time_created=now(),
    )


def use_pass(call: Call) -> bool:
    """Whether the call was let through, which it is by this; noted."""
    with transaction.atomic():
        same = Decision.objects.filter(
            project_id=call.session.project_id,
            permission=call.permission,
            session_id=call.session.id,
            arguments_hash=call.arguments_hash,
        )
        given = same.filter(verdict=PASS).count()
        if not given or same.filter(verdict="allow", scope=PASS).count() >= given:
            return False
        note(call, "allow", "person", scope=PASS)
        return True
