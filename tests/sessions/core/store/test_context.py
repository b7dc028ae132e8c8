"""Epochs and system messages in rows: message, snapshot and event are one transaction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.ids import ascending, now
from sessions.core.models import ContextEpoch, ContextMessage, Event, Session
from sessions.core.store import context, events, messages, projects
from sessions.core.store import sessions as session_store
from sessions.core.wire.messages import UserMessage

pytestmark = pytest.mark.django_db(transaction=True)

OLD, NEW = {"version": 1, "sources": {}}, {"version": 1, "sources": {"a/1": {"value": 1, "removal": None}}}


def begun(directory: Path) -> Session:
    session = session_store.create(projects.open_project(directory), str(directory))
    context.begin(session.id, str(directory), "The baseline.", OLD)
    return session


def said(session: Session) -> str:
    """Put a user message; its id."""
    wire: dict[str, Any] = {
        "id": ascending("msg"),
        "sessionID": session.id,
        "time": {"created": now()},
        "agent": "build",
        "model": {"providerID": "fake", "modelID": "fake"},
    }
    messages.put_message(UserMessage.model_validate(wire))
    return str(wire["id"])


def snapshot(session: Session) -> dict[str, Any]:
    return dict(ContextEpoch.objects.get(session=session).snapshot)


def told(session: Session) -> list[str]:
    return [entry["parts"][0]["text"] for entry in context.history(session.id)[1]]


async def test_a_message_is_told_of_as_the_protocol_has_it(tmp_path: Path) -> None:
    session = await in_db(begun, tmp_path)
    async with bus.subscribe(wants=lambda event: event.type == "session.next.context.updated") as mailbox:
        row = await in_db(context.advance, session.id, "News.", NEW)
        (event,) = await mailbox.take()
    assert event.properties == {
        "timestamp": row.time_created,
        "sessionID": session.id,
        "messageID": row.id,
        "text": "News.",
    }
    assert await in_db(snapshot, session) == NEW
    assert await in_db(told, session) == ["News."]


async def test_the_snapshot_does_not_advance_without_the_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await in_db(begun, tmp_path)

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr(events, "record", broken)
    with pytest.raises(RuntimeError):
        await in_db(context.advance, session.id, "News.", NEW)
    assert await in_db(snapshot, session) == OLD
    assert await in_db(ContextMessage.objects.count) == 0


def test_messages_sort_into_the_history_and_leave_it_with_their_epoch(tmp_path: Path) -> None:
    session = begun(tmp_path)
    before = said(session)
    row = context.advance(session.id, "News.", NEW)
    assert before < row.id < said(session)
    assert context.history(session.id, after=row.id)[1] == []
    context.begin(session.id, str(tmp_path), "Another baseline.", NEW)
    assert told(session) == []
    assert ContextMessage.objects.get().text == "News."


def test_an_undo_for_good_takes_the_messages_along_and_ends_the_epoch(tmp_path: Path) -> None:
    session = begun(tmp_path)
    first = said(session)
    context.advance(session.id, "Kept.", NEW)
    second = said(session)
    messages.remove_messages(session.id, second)
    assert not ContextEpoch.objects.get(session=session).ended
    context.advance(session.id, "Gone.", NEW)
    messages.remove_messages(session.id, second)
    assert told(session) == ["Kept."]
    assert ContextEpoch.objects.get(session=session).ended
    messages.remove_messages(session.id, first)
    assert told(session) == []


def test_a_move_clears_the_epoch(tmp_path: Path) -> None:
    session = begun(tmp_path)
    moved = context.move(session.id, str(tmp_path / "inside"))
    assert moved is not None
    assert moved.directory == str(tmp_path / "inside")
    assert context.epoch(session.id) is None
    assert Event.objects.filter(type="session.updated", session_id=session.id).exists()


def test_both_go_with_their_session(tmp_path: Path) -> None:
    session = begun(tmp_path)
    context.advance(session.id, "News.", NEW)
    session_store.delete(session.id)
    assert session_store.purge(now() + 1)
    assert not ContextEpoch.objects.exists()
    assert not ContextMessage.objects.exists()
