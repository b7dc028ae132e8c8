"""Every worker hears every message; only the one with the session's lease may act on its rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.agent.runtime import Runtime
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.models import FileChange, Message
from sessions.core.store import events, leases, ledger
from sessions.core.workers import this_process
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def test_an_interrupt_leaves_the_turn_of_another_worker_alone(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    answer = await talk.answer(await talk.prompt())
    holder = this_process().name
    lease = await in_db(leases.claim, talk.session.id, holder, 60)
    assert lease is not None
    runtime = Runtime()
    runtime.start()
    runtime.wake(talk.session.id)
    runtime.interrupt(talk.session.id, 0)
    await runtime.stop()
    message = await in_db(Message.objects.get, id=answer)
    assert "completed" not in message.data["time"]
    await in_db(leases.confirm, lease)


async def test_a_turn_that_is_taken_over_leaves_no_half_of_a_file(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    answer = await talk.answer(await talk.prompt())
    folder = Path(talk.project.worktree)
    theirs = FileChange(message_id=answer, part_id="prt", path="a.py", origin="edit", after="x")
    await in_db(ledger.add, talk.session, [theirs])
    half, other = folder / ".a.py.opencode-web-0123456789abcdef", folder / ".a.py.0123456789abcdef"
    for file in (half, other):
        file.write_text("half")
    await in_db(leases.claim, talk.session.id, "killed", 0)
    async with bus.subscribe(wants=lambda event: event.type == events.SETTLED) as mailbox:
        runtime = Runtime()
        runtime.start()
        await mailbox.take(30)
        await runtime.stop()
    assert not half.exists()
    assert other.exists()
