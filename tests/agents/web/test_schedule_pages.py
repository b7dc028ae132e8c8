"""The pages of schedules: each is of its project, what a form says, and when one is due in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agents.agent.schedules import acts
from agents.web import schedules as pages
from sessions.core.db import in_db
from sessions.core.models import Schedule
from sessions.core.store import schedules
from sessions.core.store.schedules import Happened, State, Terms
from sessions.web.approvals.inbox import inbox
from tests.guarded import GuardedClient
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
TERMS = Terms("Look", "cron", "0 9 * * 1-5", "Europe/Berlin", "Look around.")
FORM = {"name": "Look", "text": "Look around.", "when": "daily", "time": "09:00", "zone": "UTC"}


@pytest_asyncio.fixture
async def talk(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Talk:
    settings.MIDDLEWARE = []
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    settings.TRUST_FILE = tmp_path / "trust.json"
    return await Talk.begin(tmp_path / "project")


@pytest.mark.parametrize(
    ("kind", "rule", "words"),
    [
        ("cron", "30 9 * * *", "Every day at 09:30 (Europe/Berlin)"),
        ("cron", "30 9 * * 1,0", "Mon, Sun at 09:30 (Europe/Berlin)"),
        ("cron", "30 9 1 * *", "cron 30 9 1 * * (Europe/Berlin)"),
        ("once", "2026-12-01T09:30", "Once, 2026-12-01 09:30 (Europe/Berlin)"),
        ("files", "src/*\ndocs/*", "When one of these changes: src/*, docs/*"),
        ("commit", "main", "On a new commit on main"),
        ("hook", "", "When its address is called"),
    ],
)
def test_when_it_is_due_in_words(kind: str, rule: str, words: str) -> None:
    assert pages.when_words(Schedule(kind=kind, rule=rule, zone="Europe/Berlin")) == words


async def test_each_is_of_its_project(talk: Talk, tmp_path: Path) -> None:
    other = await Talk.begin(tmp_path / "other")
    row = await acts.create(other.project, TERMS)
    there = f"/p/{talk.project.id}/schedules/{row.id}"
    client = GuardedClient()
    for path in (there, f"{there}/runs"):
        assert (await client.get(path)).status_code == 404
    occurrence = await in_db(schedules.note, row, Happened("hand 1", "hand", 1))
    assert occurrence is not None
    for path in (
        there,
        f"{there}/do/run",
        f"{there}/do/remove",
        f"{there}/address",
        f"{there}/runs/{occurrence.id}/read",
    ):
        assert (await client.post(path, FORM)).status_code == 404, path
    assert (await client.post(f"{row.get_absolute_url()}/do/nothing")).status_code == 404
    assert await in_db(schedules.get, row.id) == row


async def test_what_a_form_says(talk: Talk) -> None:
    client = GuardedClient()
    given = {**FORM, "day": ["1", "3"], "cost": "2.5", "minutes": "30", "catch_up": "skip", "worktree": "on"}
    goal = {"goal": "on", "checks": "make test\r\n\r\nmake lint", "judge": "none", "turns": "4"}
    answer = await client.post(f"/p/{talk.project.id}/schedules/new", {**given, **goal})
    assert answer.status_code == 200, answer.content
    (row,) = await in_db(schedules.listing)
    assert (row.kind, row.rule, row.zone) == ("cron", "0 9 * * 1,3", "UTC")
    assert (row.cost, row.minutes, row.catch_up, row.worktree) == (2.5, 30, False, True)
    assert row.goal == {"checks": ["make test", "make lint"], "judge": "none", "turns": 4}
    shown = (await client.get(row.get_absolute_url())).content.decode()
    assert 'value="1" checked' in shown
    assert "make lint" in shown
    answer = await client.post(row.get_absolute_url(), {**FORM, "when": "files", "files": "a\r\nb"})
    assert answer.status_code == 200
    row = await in_db(Schedule.objects.get, id=row.id)
    assert (row.kind, row.rule, row.goal, row.due) == ("files", "a\nb", None, None)
    assert row.seen


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"when": "moon"}, "Say when"),
        ({"time": "late"}, "time of day"),
        ({"cost": "much"}, "A limit is a number"),
        ({"preset": "root"}, "There is no such mode"),
        ({"when": "once", "once": "2020-01-01T00:00"}, "This time is over"),
        ({"text": "/nothing"}, "There is no command /nothing"),
        ({"name": ""}, "a name"),
        ({"when": "commit", "commit": "a..b"}, "Name a branch"),
        ({"when": "files", "files": " "}, "by a pattern"),
        ({"goal": "on", "judge": "none"}, "nothing would say when"),
    ],
)
async def test_what_a_form_is_refused_for(talk: Talk, given: dict[str, str], words: str) -> None:
    answer = await GuardedClient().post(f"/p/{talk.project.id}/schedules/new", {**FORM, **given})
    assert (answer.status_code, words in answer.content.decode()) == (422, True), answer.content
    assert await in_db(schedules.listing) == []


async def test_how_one_ended_is_in_the_inbox_with_what_is_hostile_escaped(talk: Talk) -> None:
    row = await acts.create(talk.project, Terms("<b>Look", "hook", "", "UTC", "x"))
    occurrence = await in_db(schedules.note, row, Happened("hand 1", "hand", 1))
    assert occurrence is not None
    await in_db(schedules.end, occurrence, State.FAILED, "<script>No.")
    found = await in_db(inbox)
    assert (found.count, found.wire()["waiting"][0]["kind"]) == (1, "runs")
    assert "&lt;b&gt;Look" in found.html()
    assert "&lt;script&gt;No." in found.html()
    await GuardedClient().post(f"{row.get_absolute_url()}/runs/{occurrence.id}/read")
    assert (await in_db(inbox)).count == 0


async def test_the_list_is_of_all_or_of_one(talk: Talk, tmp_path: Path) -> None:
    other = await Talk.begin(tmp_path / "other")
    await acts.create(talk.project, TERMS)
    await acts.create(other.project, Terms("Elsewhere", "hook", "", "UTC", "x"))
    client = GuardedClient()
    every = (await client.get("/schedules")).content.decode()
    assert "Elsewhere" in every
    assert "Look" in every
    one = (await client.get(f"/schedules/list?project={talk.project.id}")).content.decode()
    assert "Elsewhere" not in one
