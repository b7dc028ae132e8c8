"""How far a saved rule reaches, and when it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.models import SavedRule, Session
from sessions.core.store import leases, permissions
from sessions.core.store import sessions as session_store
from tests.sessions.core.store.permissions.asking import ask, in_force, said
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def test_each_scope_ends_where_it_should(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    session = talk.session
    prompt = await talk.prompt()
    answer = await talk.answer(prompt)
    await in_db(leases.claim, session.id, "worker", 3600)
    for scope in permissions.SCOPES:
        row = await in_db(ask, session, f"git {scope}", message_id=answer)
        how: dict[str, Any] = {"scope": scope, "minutes": 5, "patterns": [f"git {scope}"]}
        assert await in_db(permissions.reply, row.id, "always", **how) is not None
    here = ["git turn", "git session", "git project", "git minutes"]
    assert await in_db(in_force, session, answer) == here
    assert [rule.scope for rule in await in_db(permissions.rules, session.project_id)] == [
        "turn",
        "session",
        "project",
        "minutes",
    ]
    next_answer = await talk.answer(await talk.prompt())
    assert await in_db(in_force, session, next_answer) == here[1:]
    other = await in_db(session_store.create, talk.project, session.directory)
    assert await in_db(in_force, other) == here[2:]
    await in_db(SavedRule.objects.filter(pattern="git minutes").update, time_expires=now())
    assert await in_db(in_force, other) == here[2:3]
    left = [rule.pattern for rule in await in_db(permissions.rules, session.project_id)]
    assert left == here[1:3]
    await in_db(session_store.delete, session.id)
    assert [rule.pattern for rule in await in_db(permissions.rules, session.project_id)] == here[2:3]


async def test_a_subagent_shares_the_session_and_the_turn_of_those_above(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "p")
    answer = await talk.answer(await talk.prompt())
    child = await in_db(session_store.create, talk.project, talk.session.directory, parent=talk.session.id)
    state = {"status": "running", "input": {}, "metadata": {"sessionId": child.id}, "time": {"start": 1}}
    await talk.part(answer, "tool", callID="call", tool="task", state=state)
    await in_db(leases.claim, talk.session.id, "worker", 3600)
    for scope in ("turn", "session"):
        row = await in_db(ask, child, f"git {scope}", message_id="msg_of_the_child")
        await in_db(permissions.reply, row.id, "always", scope=scope, patterns=[f"git {scope}"])
    assert await in_db(in_force, talk.session, answer) == ["git turn", "git session"]
    assert await in_db(in_force, child, "msg_of_the_child") == ["git turn", "git session"]
    beside = await in_db(session_store.create, talk.project, talk.session.directory, parent=talk.session.id)
    assert await in_db(in_force, beside, "msg_without_an_errand") == ["git session"]


def test_a_call_of_no_turn_is_allowed_once(session: Session) -> None:
    row = ask(session)
    assert permissions.reply(row.id, "always", scope="turn") is not None
    assert in_force(session) == []
    assert said(session) == [("allow", "person", "once", "")]


def test_the_same_rule_is_saved_once_and_later_longer(session: Session) -> None:
    for minutes in (1, 60):
        permissions.reply(ask(session).id, "always", scope="minutes", minutes=minutes)
        permissions.reply(ask(session).id, "always")
    rules = permissions.rules(session.project_id)
    assert sorted(rule.scope for rule in rules) == ["minutes", "project"]
    (timed,) = (rule for rule in rules if rule.time_expires)
    assert timed.time_expires is not None
    assert timed.time_expires > now() + 50 * 60_000
