"""What a Session Drain tells of each turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.agent import boundary
from agents.agent.drain import drain
from agents.agent.run import Children, Run
from agents.agent.steps.history import Transcript
from sessions.changes.tracking import tracker
from sessions.core.db import in_db
from sessions.core.models import Event
from sessions.core.store import inbox
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def never(_: str) -> None:
    raise AssertionError("there are no child sessions here")


async def test_a_turn_is_told_of_though_a_prompt_comes_just_after_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = await Talk.begin(tmp_path / "project")

    async def prompt(text: str) -> None:
        parts = [{"type": "text", "text": text}]
        await in_db(inbox.admit, talk.session, parts, provider_id="none", model_id="none")

    looks: list[bool] = []

    async def look(session_id: str) -> bool:
        looks.append(found := await has_work(session_id))
        if not found and looks.count(False) == 1:
            await prompt("Second.")
        return found

    has_work = boundary.has_work
    monkeypatch.setattr(boundary, "has_work", look)
    await prompt("First.")
    tracked = await asyncio.to_thread(tracker, talk.project)
    await drain(Run(talk.session, tracked, Children(never, lambda _: None), Transcript(talk.session.id)))
    types = await in_db(lambda: list(Event.objects.order_by("id").values_list("type", flat=True)))
    told = [type for type in types if type in ("session.status", "session.error", "session.idle")]
    assert told == ["session.status", "session.status", "session.error", "session.idle", "session.status"]
