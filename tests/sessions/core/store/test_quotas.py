"""What a person may have at once and in a day: counted by rows, said in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings

from sessions.core.models import Session
from sessions.core.store import inbox, line, projects, quotas, usage
from sessions.core.store import sessions as session_store
from sessions.core.wire.base import Tokens

TEXT = [{"type": "text", "text": "Do it."}]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, transactional_db: None, settings: Settings) -> Path:
    settings.PEOPLE = True
    settings.PERSON_TURNS = 1
    settings.PERSON_COST = 2.0
    return tmp_path


def session_at(folder: Path) -> Session:
    return session_store.create(projects.open_project(folder), str(folder))


def run(session: Session, actor: str) -> None:
    """A turn of somebody's runs in it, for a prompt that waits or a new one."""
    row = next(iter(inbox.waiting(session.id)), None) or inbox.admit(session, TEXT, actor=actor)
    inbox.promote(row.id, agent="build", provider_id="loopback", model_id="m")
    Session.objects.filter(id=session.id).update(lease_owner="worker")


def in_line() -> list[str]:
    return [waiting.session_id for waiting in line.line()]


def test_a_person_has_as_many_turns_as_they_may(folder: Path) -> None:
    first, second, third, other = (session_at(folder) for _ in range(4))
    for session in (first, second, third):
        inbox.admit(session, TEXT, actor="Ada")
    inbox.admit(other, TEXT, actor="Grace")
    assert in_line() == [first.id, other.id]
    run(first, "Ada")
    assert in_line() == [other.id]
    assert "1 turn at once here, and Ada has" in quotas.held(second)
    assert quotas.held(other) == ""
    Session.objects.filter(id=first.id).update(lease_owner="")
    assert second.id in in_line()


def test_what_is_next_counts_as_its_senders(folder: Path) -> None:
    """Also in a session that runs for somebody else."""
    busy, shared = session_at(folder), session_at(folder)
    run(busy, "Grace")
    run(shared, "Ada")
    inbox.admit(shared, TEXT, actor="Grace")
    assert "Grace has" in quotas.held(shared)
    inbox.admit(shared, TEXT, actor="Ada", delivery="steer")
    assert quotas.held(shared) == ""


def test_nobody_by_a_name_has_no_limit(folder: Path) -> None:
    sessions = [session_at(folder) for _ in range(2)]
    for session in sessions:
        inbox.admit(session, TEXT)
    assert in_line() == [session.id for session in sessions]


def test_who_spent_what_a_day_may_cost_is_refused_in_words(folder: Path) -> None:
    session, waiting = session_at(folder), session_at(folder)
    inbox.admit(waiting, TEXT, actor="Ada")
    run(session, "Ada")
    child = session_store.create(session.project, session.directory, parent=session.id)
    usage.spent(session.id, Tokens(), 1.25)
    usage.spent(child.id, Tokens(), 1.0)
    assert quotas.spent("Ada") == 2.25
    assert quotas.spent("Grace") == 0
    with pytest.raises(inbox.PromptRefused, match=r"Ada has spent \$2.25 today"):
        inbox.admit(session, TEXT, actor="Ada")
    Session.objects.filter(id=session.id).update(lease_owner="")
    assert "It goes on tomorrow" in quotas.held(waiting)
    assert in_line() == []
    inbox.admit(session, TEXT, actor="Grace")


def test_without_people_nobody_spends(folder: Path, settings: Settings) -> None:
    settings.PEOPLE = False
    session = session_at(folder)
    run(session, "Ada")
    usage.spent(session.id, Tokens(), 1.0)
    assert quotas.spent("Ada") == 0
