"""What a Session Drain tells of each turn."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agents.agent.runtime import Runtime
from sessions.core.db import in_db
from sessions.core.models import Event
from sessions.core.store import inbox
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def runtime() -> AsyncIterator[Runtime]:
    runtime = Runtime()
    runtime.start()
    yield runtime
    await runtime.stop()


async def test_a_turn_is_told_of_though_a_prompt_comes_just_after_it_was_looked_for(
    tmp_path: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    looks: list[bool] = []
    ended, loop = asyncio.Event(), asyncio.get_running_loop()

    def prompt(text: str) -> None:
        parts = [{"type": "text", "text": text}]
        inbox.admit(talk.session, parts, provider_id="none", model_id="none")

    def look(session_id: str) -> bool:
        looks.append(found := has_work(session_id))
        if not found and looks.count(False) == 1:
            prompt("Second.")
        if looks.count(False) == 3:  # after the drain of each, and after its end
            loop.call_soon_threadsafe(ended.set)
        return found

    has_work = inbox.has_work
    monkeypatch.setattr(inbox, "has_work", look)
    await in_db(prompt, "First.")
    runtime.wake(talk.session.id)
    await asyncio.wait_for(ended.wait(), 30)
    types = await in_db(lambda: list(Event.objects.order_by("id").values_list("type", flat=True)))
    told = [type for type in types if type in ("session.status", "session.error", "session.idle")]
    assert told == ["session.status", "session.status", "session.error", "session.idle"] * 2
