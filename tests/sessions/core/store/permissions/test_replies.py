"""Answers: taken once, for exactly what was asked, and checked before anything is written."""

from __future__ import annotations

from typing import Any

import pytest

from sessions.core import workers
from sessions.core.models import PermissionRequest, Session
from sessions.core.store import permissions
from sessions.core.store import sessions as session_store
from sessions.core.store.permissions import BadPattern, BadReplacement, StaleReply
from tests.sessions.core.store.permissions.asking import ask, said

PROPOSED = {"filepath": "/p/a.py", "diff": "…", "filediff": {"before": "a\n", "after": "b\n"}}


def test_an_answer_to_something_else_is_refused(session: Session) -> None:
    row = ask(session)
    with pytest.raises(StaleReply):
        permissions.reply(row.id, "once", hash="of what was there before")
    assert permissions.reply(row.id, "once", hash="h", actor="browser 1") is not None
    assert permissions.reply(row.id, "once", hash="h") is None
    assert said(session) == [("allow", "person", "once", "")]
    (decision,) = permissions.decisions(session.project_id)
    assert (decision.actor, decision.call_id, decision.arguments_hash) == ("browser 1", "call", "h")


def test_an_answer_to_a_request_that_is_gone_is_refused(session: Session) -> None:
    stopped, withdrawn, deleted = ask(session), ask(session), ask(session)
    permissions.withdraw(withdrawn.id, "the file changed")
    assert permissions.reply(withdrawn.id, "always") is None
    session_store.delete(session.id)
    assert permissions.reply(deleted.id, "always") is None
    permissions.cancel(session.id)
    assert permissions.reply(stopped.id, "always") is None
    assert permissions.rules(session.project_id) == []
    assert said(session) == [("cancel", "stop", "", "")] * 2 + [("cancel", "call", "", "")]


def test_a_withdrawal_does_not_take_back_a_rejection(session: Session) -> None:
    row = ask(session)
    permissions.reply(row.id, "reject", "no")
    answered = permissions.withdraw(row.id, "the file changed")
    assert answered is not None
    assert (answered.state, answered.words) == ("reject", "no")
    assert said(session) == [("deny", "person", "", "")]


def test_a_rejection_answers_what_its_session_asks_at_the_same_time(session: Session) -> None:
    other = session_store.create(session.project, session.directory)
    row, beside, elsewhere = ask(session), ask(session, "ls"), ask(other)
    permissions.reply(row.id, "reject", "not now")
    states = {one.id: one.state for one in PermissionRequest.objects.all()}
    assert states == {row.id: "reject", beside.id: "reject", elsewhere.id: "pending"}
    assert said(session) == [("deny", "person", "", "")] * 2
    assert [one.id for one in permissions.inbox()] == [elsewhere.id]


@pytest.mark.parametrize(
    ("patterns", "why"),
    [
        ([], "no pattern"),
        ([" "], "characters"),
        (["git" + "x" * 500], "characters"),
        (["git *\nrm *"], "control"),
        (["npm *"], "does not match"),
        (["git *", "npm *"], "does not match"),
        (["*"] * 21, "20 patterns"),
    ],
)
def test_a_pattern_that_cannot_become_a_rule_is_refused(
    session: Session, patterns: list[str], why: str
) -> None:
    row = ask(session)
    with pytest.raises(BadPattern, match=why):
        permissions.reply(row.id, "always", patterns=patterns)
    assert permissions.rules(session.project_id) == []
    assert permissions.reply(row.id, "always", patterns=["git st*", "git st*"]) is not None
    assert [rule.pattern for rule in permissions.rules(session.project_id)] == ["git st*"]


def test_what_offers_no_rule_leaves_none(session: Session) -> None:
    row = ask(session, always=())
    with pytest.raises(BadPattern, match="once"):
        permissions.reply(row.id, "always", patterns=["git *"])
    assert permissions.reply(row.id, "always") is not None
    assert permissions.rules(session.project_id) == []
    assert said(session) == [("allow", "person", "once", "")]


@pytest.mark.parametrize(
    ("more", "replacement", "why"),
    [
        ({"permission": "edit", "metadata": PROPOSED}, {"/p/b.py": "x"}, "b.py was proposed"),
        ({"permission": "bash", "metadata": PROPOSED}, {"/p/a.py": "x"}, "a.py was proposed"),
        (
            {"permission": "edit", "metadata": {"command": "tee x", "filepath": "x"}},
            {"x": "x"},
            "was proposed",
        ),
        ({"permission": "edit", "metadata": {"files": [{"filepath": "a"}]}}, {"a": "", "b": None}, "b was"),
        ({"permission": "edit", "metadata": PROPOSED}, {"/p/a.py": "\ud800"}, "half a character"),
        ({"permission": "edit", "metadata": PROPOSED}, {"/p/a.py": "x" * 10_000_001}, "too long"),
    ],
)
def test_what_does_not_belong_to_the_proposal_is_refused(
    session: Session, more: dict[str, Any], replacement: dict[str, str | None], why: str
) -> None:
    row = ask(session, **more)
    with pytest.raises(BadReplacement, match=why):
        permissions.reply(row.id, "once", replacement=replacement)
    assert [one.id for one in permissions.pending()] == [row.id]


def test_a_replacement_is_kept_with_the_answer(session: Session) -> None:
    row = ask(session, permission="edit", metadata=PROPOSED)
    with pytest.raises(BadReplacement, match="rejected"):
        permissions.reply(row.id, "reject", replacement={"/p/a.py": "x"})
    permissions.reply(row.id, "once", replacement={"/p/a.py": "x"})
    assert PermissionRequest.objects.get(id=row.id).replacement == {"/p/a.py": "x"}


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        ("perhaps", {}),
        ("always", {"scope": "for good"}),
        ("always", {"scope": "minutes"}),
        ("always", {"scope": "minutes", "minutes": 10**9}),
    ],
)
def test_what_is_no_answer_raises(session: Session, answer: str, how: dict[str, Any]) -> None:
    row = ask(session)
    with pytest.raises(ValueError, match="not"):
        permissions.reply(row.id, answer, **how)
    assert permissions.reply(row.id, "once") is not None


def waiting(session: Session) -> list[str]:
    return [row.call_id for row in permissions.pending(session_id=session.id)]


@pytest.mark.sqlite
def test_what_an_app_asks_is_apart_from_what_the_model_asks(session: Session) -> None:
    alive, dead = workers.this_process().name, "gone.1"
    row = ask(session, call_id="app", metadata={permissions.APP: alive})
    ask(session, call_id="second", metadata={permissions.APP: alive})
    ask(session, call_id="orphan", metadata={permissions.APP: dead})
    assert permissions.cancel(ask(session, call_id="model").session_id) == {"model"}
    permissions.cancel_orphans()
    assert waiting(session) == ["app", "second"]
    permissions.cancel_call(session.id, "second")
    assert waiting(session) == ["app"]
    permissions.reply(ask(session, call_id="model").id, "reject")
    assert waiting(session) == ["app"]
    ask(session, call_id="model")
    permissions.reply(row.id, "reject")
    assert waiting(session) == ["model"]
