"""How long calls took: without the time that a person took."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from agents.agent.calls.clock import Clock
from sessions.core.wire.parts import Running, Span, ToolPart
from tests.loopback.script import ToolUse
from tests.runtime.asking import stage, turns
from tests.server import parts_of

STATUS = ToolUse("bash", {"command": "git status"})


def part() -> ToolPart:
    state = Running(input={}, time=Span(start=1000))
    return ToolPart(id="prt_1", session_id="ses_1", message_id="msg_1", call_id="c", tool="bash", state=state)


def start(of: ToolPart) -> int:
    assert isinstance(of.state, Running)
    return of.state.time.start


def test_waits_that_overlap_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    outer, inner = part(), part()
    batch = Clock(outer)
    one, two = Clock(inner, batch), Clock(part(), batch)
    with one.stopped():
        now = 2.0
        with two.stopped():
            now = 5.0
    assert (start(outer), start(inner)) == (6000, 6000)
    with two.stopped():
        now = 6.0
    assert (start(outer), start(inner)) == (7000, 6000)


async def test_a_call_begins_when_it_may(home: Path, project: Path) -> None:
    async with stage(home, project, turns(STATUS)) as on:
        session = await on.session()
        asked = await on.asked()
        (waiting,) = parts_of(await on.client.messages(session), "tool")
        await on.reply(asked, reply="once")
        await on.idle(session)
        (done,) = parts_of(await on.client.messages(session), "tool")
        assert done["state"]["time"]["start"] > waiting["state"]["time"]["start"]
