"""What was used, on a page and as CSV: summed up by day, by conversation with its subagents, by model."""

from __future__ import annotations

import csv
import re
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from sessions.core.db import in_db
from sessions.core.ids import ascending, now
from sessions.core.models import Admission, Message, Project, Session
from sessions.core.store import sessions as session_store
from tests.guarded import GuardedClient
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
DAY = 24 * 3600 * 1000


@pytest_asyncio.fixture
async def talk(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Talk:
    settings.MIDDLEWARE = []
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    settings.TRUST_FILE = tmp_path / "trust.json"
    return await Talk.begin(tmp_path / "project")


def answered(session: Session, *, ago: int = 0, parent: str = "", cost: float = 0.5, **tokens: int) -> None:
    """An answer of so many days ago."""
    moment = now() - ago * DAY
    cache = {"read": tokens.pop("read", 0), "write": tokens.pop("write", 0)}
    data = {
        "agent": "build",
        "providerID": "acme",
        "modelID": "large",
        "parentID": parent,
        "cost": cost,
        "tokens": {"input": 0, "output": 0, "reasoning": 0, **tokens, "cache": cache},
        "time": {"created": moment, "completed": moment + 1500},
    }
    Message.objects.create(
        id=ascending("msg"), session=session, role="assistant", time_created=moment, data=data
    )


async def child_of(talk: Talk) -> Session:
    create = session_store.create
    return await in_db(create, talk.project, talk.session.directory, title="Looks", parent=talk.session.id)


async def page(**query: str) -> str:
    answer = await GuardedClient().get("/usage", query)
    assert answer.status_code == 200
    return unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode())))


async def rows(**query: str) -> list[dict[str, str]]:
    answer = await GuardedClient().get("/usage.csv", query)
    assert answer.headers["content-type"].startswith("text/csv")
    return list(csv.DictReader(answer.content.decode().splitlines()))


async def test_subagents_count_to_their_conversation(talk: Talk) -> None:
    child = await child_of(talk)
    await in_db(answered, talk.session, input=1000, read=2000, output=10)
    await in_db(answered, child, input=500, write=40, reasoning=5, cost=0.25)
    (row,) = await rows()
    assert (row["session"], row["model"], row["calls"]) == (talk.session.id, "acme/large", "2")
    taken = ("input", "cache_read", "cache_write", "output", "reasoning", "cost", "seconds")
    assert [row[name] for name in taken] == ["1500", "2000", "40", "10", "5", "0.750000", "3.0"]
    said = await page()
    assert "Cost $0.75" in said
    assert f"{talk.session.title} 2 1.5k 2k 10 $0.75" in said


async def test_days_are_those_that_were_asked_for(talk: Talk) -> None:
    await in_db(answered, talk.session, input=7)
    await in_db(answered, talk.session, ago=8, input=70)
    assert [row["input"] for row in await rows(days="7")] == ["7"]
    found = await rows(days="30")
    assert [row["input"] for row in found] == ["70", "7"]
    assert found[0]["day"] == (datetime.now() - timedelta(days=8)).date().isoformat()
    assert [row["input"] for row in await rows(days="9999")] == ["70", "7"]


async def test_nothing_was_used(talk: Talk) -> None:
    assert "No model has answered in this time" in await page()
    assert await rows() == []


async def test_what_has_no_cost_is_said(talk: Talk) -> None:
    await in_db(answered, talk.session, input=7, cost=0)
    said = await page()
    assert "1 answer is without a cost" in said
    assert "Cost –" in re.sub(r"\s+", " ", said)
    assert "Tokens by day" in said


async def test_who_asked_is_known_where_there_are_people(talk: Talk) -> None:
    prompt = ascending("msg")
    await in_db(
        lambda: Admission.objects.create(
            id=prompt, session=talk.session, digest="", actor="=ada", time_created=now()
        )
    )
    await in_db(answered, talk.session, parent=prompt, input=7)
    (row,) = await rows()
    assert row["person"] == "'=ada"
    assert "People" in await page()


async def test_one_project_alone(talk: Talk) -> None:
    other = await in_db(
        lambda: Project.objects.create(
            id="other", worktree="/nowhere", name="other", time_created=1, time_updated=1
        )
    )
    session = await in_db(session_store.create, other, "/nowhere", title="Elsewhere")
    await in_db(answered, session, input=9)
    await in_db(answered, talk.session, input=7)
    assert [row["input"] for row in await rows(project="other")] == ["9"]
    assert len(await rows()) == 2
