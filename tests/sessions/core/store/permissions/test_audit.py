"""Saved rules in use, revoked, exported, previewed; the audit of all of it, which stays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.db import DatabaseError, connection

from opencode_web.site import database
from sessions.api.stream import INTERNAL
from sessions.core.models import Decision, Event, SavedRule, Session
from sessions.core.models.permissions import NotChanged
from sessions.core.store import permissions
from sessions.web.approvals.inbox import RULES
from tests.sessions.core.store.permissions.asking import ask, in_force, said


def test_use_is_counted_and_revoking_takes_effect_at_once(session: Session) -> None:
    permissions.reply(ask(session).id, "always", actor="browser 1")
    (rule,) = permissions.rules(session.project_id)
    call = permissions.Call(session, "call_2", "bash", ["git log"], "h2")
    permissions.used(call, [rule])
    (rule,) = permissions.rules(session.project_id)
    assert (rule.uses, rule.actor) == (1, "browser 1")
    assert rule.time_used is not None
    assert permissions.revoke(rule.id, "browser 2") is True
    assert permissions.revoke(rule.id, "browser 2") is False
    assert in_force(session) == []
    assert said(session) == [
        ("revoke", "person", "project", "bash: git *"),
        ("allow", "rule", "project", "bash: git *"),
        ("allow", "person", "project", "bash: git *"),
    ]
    assert permissions.decisions(session.project_id)[0].actor == "browser 2"


def test_a_revoking_is_undone_for_exactly_that_rule(session: Session) -> None:
    for pattern in ("git *", "npm *"):
        permissions.reply(ask(session, always=(pattern,)).id, "always", actor="browser 1")
    rule, other = permissions.rules(session.project_id)
    assert permissions.restore(rule.id, "browser 2") is False, "it was never revoked"
    assert permissions.revoke(rule.id, "browser 2")
    assert permissions.revoke(other.id, "browser 2")
    assert permissions.exported(session.project_id) == {}
    assert permissions.restore(rule.id, "browser 3") is True
    assert permissions.restore(rule.id, "browser 3") is False
    assert in_force(session) == ["git *"]
    (back,) = permissions.rules(session.project_id)
    assert (back.id, back.actor, back.time_created) == (rule.id, "browser 1", rule.time_created)
    newest = permissions.decisions(session.project_id)[0]
    assert (newest.verdict, newest.by, newest.actor, newest.rule) == (
        "restore", "person", "browser 3", "bash: git *"
    )  # fmt: skip


@pytest.mark.parametrize("ended", ["saved again", "run out"])
def test_a_rule_that_would_allow_nothing_new_is_not_restored(session: Session, ended: str) -> None:
    permissions.reply(ask(session).id, "always")
    (rule,) = permissions.rules(session.project_id)
    permissions.revoke(rule.id, "me")
    if ended == "saved again":
        permissions.reply(ask(session).id, "always")
    else:
        SavedRule.every.update(time_expires=1)
    assert permissions.restore(rule.id, "me") is False
    assert len(permissions.rules(session.project_id)) == (ended == "saved again")


def test_pages_are_told_of_rules_and_clients_of_the_protocol_are_not(session: Session) -> None:
    permissions.reply(ask(session).id, "always")
    (rule,) = permissions.rules(session.project_id)
    permissions.revoke(rule.id, "me")
    permissions.restore(rule.id, "me")
    assert Event.objects.filter(type=RULES, project_id=session.project_id).count() == 3
    assert RULES in INTERNAL


def test_the_audit_is_paged(session: Session) -> None:
    for number in range(5):
        permissions.reply(ask(session, call_id=f"call_{number}").id, "once")
    first = permissions.decisions(session.project_id, limit=2)
    rest = permissions.decisions(session.project_id, before=first[-1].id)
    assert [row.call_id for row in (*first, *rest)] == [f"call_{number}" for number in (4, 3, 2, 1, 0)]


def test_what_a_rule_would_have_matched_is_known(session: Session) -> None:
    permissions.reply(ask(session, "git log -1").id, "once")
    permissions.reply(ask(session, "git push", "npm test").id, "reject")
    permissions.reply(ask(session, "git log", permission="webfetch").id, "once")
    permissions.cancel(ask(session, "git cancelled").session_id)
    found = permissions.matched(session.project_id, "bash", "git *")
    assert [(match.matched, match.whole, match.decision.verdict) for match in found] == [
        (("git push",), False, "deny"),
        (("git log -1",), True, "allow"),
    ]
    assert found.total == 2
    assert permissions.matched("another project", "bash", "git *") == []
    for _ in range(60):
        permissions.reply(ask(session, "git log -2").id, "once")
    found = permissions.matched(session.project_id, "bash", "git log *")
    assert (len(found), found.total) == (50, 61)


def test_rules_are_exported_in_an_order_in_which_nothing_gets_looser(session: Session) -> None:
    for permission, pattern in (
        ("read", "src/.env"),
        ("read", "*"),
        ("bash", "git *"),
        ("bash", "*"),
        ("mcp_x", "y"),
    ):
        row = ask(session, pattern, permission=permission, always=(pattern,))
        permissions.reply(row.id, "always")
    permissions.reply(ask(session, "ls").id, "always", scope="session")
    SavedRule.objects.create(
        project=session.project, permission="bash", pattern="git push *", action="deny", time_created=1
    )
    exported = permissions.exported(session.project_id)
    assert list(exported) == ["bash", "mcp_x", "read"]
    assert list(exported["bash"].items()) == [("*", "allow"), ("git *", "allow"), ("git push *", "deny")]
    assert list(exported["read"].items()) == [
        ("*", "allow"),
        ("*.env", "ask"),
        ("*.env.*", "ask"),
        ("*.env.example", "allow"),
        ("src/.env", "allow"),
    ]


def test_a_decision_is_never_changed_or_deleted(session: Session) -> None:
    permissions.reply(ask(session).id, "once")
    row = Decision.objects.get()
    row.verdict = "deny"
    with pytest.raises(NotChanged):
        row.save()
    with pytest.raises(NotChanged):
        row.delete()
    with pytest.raises(NotChanged):
        Decision.objects.update(verdict="deny")
    with pytest.raises(NotChanged):
        Decision.objects.all().delete()
    with pytest.raises(NotChanged):
        Decision.objects.bulk_update([row], ["verdict"])
    assert Decision.objects.get().verdict == "allow"


@pytest.fixture
def protected(transactional_db: None) -> Iterator[None]:
    """The database as a server starts with it; later tests have to empty its tables."""
    database.protect_decisions()
    yield
    with connection.cursor() as cursor:
        for name in database.APPEND_ONLY:
            of_table = f'ON "{Decision._meta.db_table}"' if connection.vendor == "postgresql" else ""
            cursor.execute(f'DROP TRIGGER "{name}" {of_table}')


@pytest.mark.usefixtures("protected")
@pytest.mark.parametrize("statement", ["UPDATE {} SET verdict = 'deny'", "DELETE FROM {}"])
def test_the_database_refuses_it_too(session: Session, statement: str) -> None:
    permissions.reply(ask(session).id, "once")
    with connection.cursor() as cursor, pytest.raises(DatabaseError, match="stays as it was written"):
        cursor.execute(statement.format(Decision._meta.db_table))
    assert Decision.objects.get().verdict == "allow"
