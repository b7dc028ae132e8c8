"""What one client of `/event` is sent, in the order in which it may happen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessions.api.stream import _Stream
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.models import Event
from sessions.core.store import events
from sessions.core.store import sessions as session_store
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_text_is_told_once_though_its_event_of_before_still_waits(tmp_path: Path) -> None:
    """It was logged after the client had subscribed, and before it read the log."""
    talk = await Talk.begin(tmp_path / "project")
    await in_db(lambda: type(talk.session).objects.update(status={"type": "busy"}))
    since = await in_db(events.latest)
    frames = _Stream(talk.project.id, talk.session.directory, since, True, True).frames()
    await anext(frames)  # connected
    part = await talk.text(await talk.answer(await talk.prompt()), "")
    await anext(frames)  # what it missed
    talk.delta(part, "Hello", 0)
    await talk.fold(part, "Hello")
    told = _texts(await anext(frames))
    talk.delta(part, " world", 5)
    while " world" not in "".join(told):
        told += _texts(await anext(frames))
    assert "".join(told) == "Hello world"


async def test_what_another_process_logged_before_is_told_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own hint comes after that of this process: the cursor of the client does not pass it."""
    talk = await Talk.begin(tmp_path / "project")
    held: list[bus.Event] = []
    monkeypatch.setattr(bus, "_relay", lambda _: None)
    frames = _Stream(talk.project.id, talk.session.directory, await in_db(events.latest), True, True).frames()
    for _ in range(3):
        await anext(frames)
    answer = await talk.answer(await talk.prompt())
    _cursors(await anext(frames))
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(bus, "publish", held.append)
        await in_db(session_store.rename, talk.session.id, "There")
        await talk.text(answer, "It str")
    await in_db(session_store.archive, talk.session.id)
    told = _cursors(await anext(frames))
    for late in held:
        bus.publish(late)
    await in_db(session_store.archive, talk.session.id, False)
    told += _cursors(await anext(frames))
    first = held[0].seq
    assert first is not None
    assert told == [first, first + 2, first + 1, first + 3], "the text that streams comes with its own hint"


async def test_a_page_that_comes_again_is_told_what_was_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    cursor = await in_db(events.latest)
    assert await in_db(events.before_late, cursor) == cursor
    monkeypatch.setattr(bus, "_relay", lambda _: None)
    first = await in_db(lambda: Event.objects.order_by("id")[0].pk)
    assert await in_db(events.before_late, cursor) == first - 1
    old = Event.objects.filter(id__lte=cursor)
    await in_db(lambda: old.update(time_created=1))
    await in_db(session_store.rename, talk.session.id, "Later")
    assert await in_db(events.before_late, cursor + 1) == cursor


def _cursors(frames: bytes) -> list[int]:
    return [int(line[4:]) for line in frames.decode().splitlines() if line.startswith("id: ")]


def _texts(frames: bytes) -> list[str]:
    """Whole texts and what is added to them."""
    found = []
    for line in frames.decode().splitlines():
        event: dict[str, Any] = json.loads(line.removeprefix("data: ")) if line.startswith("data: ") else {}
        properties = event.get("properties", {})
        part = properties.get("part", {})
        if part.get("type") == "text" and part.get("time"):
            found.append(part["text"])
        elif event.get("type") == "message.part.delta":
            found.append(properties["delta"])
    return found
