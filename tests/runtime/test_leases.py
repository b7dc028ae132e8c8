"""Every worker hears every message; only the one with the session's lease may act on its rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.runtime.runtime import Runtime
from sessions.db import in_db
from sessions.ids import now
from sessions.models import Message
from sessions.store import sessions as session_store
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def test_an_interrupt_leaves_the_turn_of_another_worker_alone(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    answer = await talk.answer(await talk.prompt())
    holder = "elsewhere:1:worker"
    assert await in_db(session_store.claim, talk.session.id, holder, now() + 60_000)
    runtime = Runtime()
    runtime.start()
    runtime.wake(talk.session.id)
    runtime.interrupt(talk.session.id)
    await runtime.stop()
    message = await in_db(Message.objects.get, id=answer)
    assert "completed" not in message.data["time"]
    assert await in_db(session_store.holds, talk.session.id, holder)
