"""The pause of a turn before its next attempt."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agents.agent import pauses
from sessions.core import bus
from sessions.core.db import in_db
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("later", range(4))
async def test_a_stop_is_not_lost_to_the_word_to_go_on(tmp_path: Path, later: int) -> None:
    """However many rounds of the loop lie between the two."""
    session = (await Talk.begin(tmp_path)).session
    async with bus.subscribe(wants=lambda event: event.type == "session.status") as mailbox:
        pausing = asyncio.create_task(pauses.pause(session.id, 1, "no answer", 60))
        assert await mailbox.take(30)
    for _ in range(3):
        await in_db(int)  # behind what told of it: it waits by then
    pauses.hasten(session.id)
    for _ in range(later):
        await asyncio.sleep(0)
    if pausing.cancel():
        with pytest.raises(asyncio.CancelledError):
            await pausing
