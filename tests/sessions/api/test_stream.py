"""What one client of `/event` is sent, in the order in which it may happen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessions.api.stream import _Stream
from sessions.core.db import in_db
from sessions.core.store import events
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
