"""The clock of the machine is moved: nothing is out of order for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sessions.core import ids
from sessions.core.ids import ascending, descending
from sessions.core.store import inbox, permissions, projects
from sessions.core.store import sessions as session_store

pytestmark = pytest.mark.django_db
HOUR = 3600 * 10**9


@pytest.fixture
def move_clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """By nanoseconds, from the true time. Ids made meanwhile are none of the tests that follow."""
    true = time.time_ns
    for told in ("_last", "_lifted"):
        monkeypatch.setattr(ids, told, getattr(ids, told))
    return lambda by: monkeypatch.setattr(time, "time_ns", lambda: true() + by)


@pytest.mark.parametrize("ahead", [1, 400 * 24], ids=["an hour", "400 days"])
def test_sessions_are_in_the_order_of_their_use(
    tmp_path: Path, move_clock: Callable[[int], None], ahead: int
) -> None:
    project = projects.open_project(tmp_path)
    first, second, third = (session_store.create(project, str(tmp_path)) for _ in range(3))
    move_clock(ahead * HOUR)
    session_store.rename(first.id, "used ahead of time")
    move_clock(0)
    session_store.rename(third.id, "used then")
    session_store.rename(second.id, "used last")
    assert [row.id for row in session_store.listing(project)] == [second.id, third.id, first.id]
    new = session_store.create(project, str(tmp_path))
    assert session_store.listing(project)[0].id == new.id
    assert session_store.listing(project)[0].time_updated < time.time_ns() // 10**6 + 60_000, "the true time"


def test_ids_and_prompts_rise_when_the_clock_goes_back(
    tmp_path: Path, move_clock: Callable[[int], None]
) -> None:
    session = session_store.create(projects.open_project(tmp_path), str(tmp_path))
    made = [ascending("msg")]
    down = [descending("ses")]
    prompts = [inbox.admit(session, [{"type": "text", "text": "first"}])]
    for by in (-HOUR, 48 * HOUR, -2 * HOUR):
        move_clock(by)
        made.append(ascending("msg"))
        down.append(descending("ses"))
        prompts.append(inbox.admit(session, [{"type": "text", "text": "next"}]))
    assert made == sorted(made)
    assert down == sorted(down, reverse=True)
    assert [row.id for row in inbox.waiting(session.id)] == [row.id for row in prompts]


def test_a_rule_for_minutes_does_not_last_longer(tmp_path: Path, move_clock: Callable[[int], None]) -> None:
    session = session_store.create(projects.open_project(tmp_path), str(tmp_path))
    asked = permissions.ask(
        session,
        message_id="",
        call_id="",
        agent="build",
        permission="bash",
        patterns=["git log"],
        always=["git *"],
        metadata={},
        arguments_hash="",
    )
    permissions.reply(asked.id, "always", scope="minutes", minutes=5)
    assert permissions.rules(session.project_id)
    move_clock(-HOUR)
    assert not permissions.rules(session.project_id)
    assert not permissions.in_force(session, "")
