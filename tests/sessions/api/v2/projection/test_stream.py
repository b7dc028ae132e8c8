"""Streams of the second protocol for readers that fall behind, and the cursors of the log."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sessions.api.stream import RESYNC
from sessions.api.v2.projection import log
from sessions.api.v2.stream import everything, of_session
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.models import Event
from sessions.core.store import events
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


def told(frames: bytes) -> list[dict[str, Any]]:
    lines = frames.decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


async def all_of(stream: AsyncIterator[bytes]) -> list[dict[str, Any]]:
    return [event async for frames in stream for event in told(frames)]


async def test_a_reader_of_everything_that_does_not_read_is_told() -> None:
    stream = everything(most_bytes=1000)
    assert told(await anext(stream))[0]["type"] == "server.connected"
    await anext(stream)
    for _ in range(20):
        bus.publish(bus.Event("file.edited", {"file": "x" * 100}))
    found = await all_of(stream)
    assert [event["type"] for event in found][-1] == RESYNC
    assert len(found) < 12


async def test_a_reader_of_a_session_that_does_not_read_is_told(tmp_path: Path) -> None:
    """What it was sent is whole, and its last event is where it goes on."""
    talk = await Talk.begin(tmp_path)
    answer = await talk.answer(await talk.prompt())
    stream = of_session(talk.session.id, 0, most=3)
    await anext(stream)
    for _ in range(6):
        await talk.text(answer, "a text", ended=True)
    found = await all_of(stream)
    assert found[-1]["type"] == RESYNC
    again = of_session(talk.session.id, max((event["durable"]["seq"] for event in found[:-1]), default=0))
    await anext(again)
    rest = told(await anext(again))
    assert len(found) - 1 + len(rest) == 6


async def test_cursors(tmp_path: Path) -> None:
    """One from before what is kept, or of what has not happened, is refused."""
    talk = await Talk.begin(tmp_path)
    answer = await talk.answer(await talk.prompt())
    for text in "abcd":
        await talk.text(answer, text, ended=True)
    found, end = await in_db(log.after, talk.session.id, 0, 100)
    assert [event.data["text"] for event in found] == ["a", "b", "c", "d"]
    assert await in_db(log.after, talk.session.id, end, 100) == ([], end)
    first = log.seq_of(found[0])
    assert await in_db(log.after, talk.session.id, first, 2) == (found[1:3], log.seq_of(found[2]))
    with pytest.raises(log.NoSuchCursor):
        await in_db(log.after, talk.session.id, end + 100, 100)
    await in_db(events.prune, 2)
    with pytest.raises(log.NoSuchCursor):
        await in_db(log.after, talk.session.id, first, 100)
    assert await in_db(Event.objects.count) == 2
    kept, _ = await in_db(log.after, talk.session.id, 0, 100)
    assert [event.data["text"] for event in kept] == ["c", "d"]
