"""What changed in a session is counted from 0 without a hole, whatever the log still has of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sessions.api.v2.projection import sync
from sessions.core import bus
from sessions.core.db import in_db
from sessions.core.models import Event, Message, Part
from sessions.core.store import events, forks, importing, messages
from sessions.core.store import sessions as session_store
from sessions.core.store.rows import session_wire
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def talked(folder: Path) -> Talk:
    talk = await Talk.begin(folder)
    answer = await talk.answer(await talk.prompt())
    part = await talk.text(answer, "Hel")
    for said in ("Hello", "Hello."):
        await talk.text(answer, said, ended=True, id=part.id)
    return talk


async def history(session_id: str, known: int = -1) -> list[dict[str, Any]]:
    """Checked to be whole: every number once, and each thing before what is of it."""
    found = await in_db(sync.history, session_id, known)
    assert [event["seq"] for event in found] == list(range(known + 1, known + 1 + len(found)))
    if known >= 0 or not found:
        return found
    assert found[0]["type"] == "session.created.1"
    assert [event["type"] for event in found].count("session.created.1") == 1
    known_messages = set()
    for event in found:
        if event["type"] == "message.updated.1":
            known_messages.add(event["data"]["info"]["id"])
        elif event["type"] == "message.part.updated.1":
            assert event["data"]["part"]["messageID"] in known_messages
    parts = {e["data"]["part"]["id"] for e in found if e["type"] == "message.part.updated.1"}
    rows = await in_db(lambda: (_ids(Message, session_id), _ids(Part, session_id)))
    assert (known_messages, parts) == rows
    return found


def _ids(kind: type[Message] | type[Part], session_id: str) -> set[str]:
    return set(kind._default_manager.filter(session_id=session_id).values_list("id", flat=True))


async def test_what_is_told_live_is_the_history(tmp_path: Path) -> None:
    async with bus.subscribe() as mailbox:
        talk = await talked(tmp_path / "p")
        other = await talked(tmp_path / "q")
        told = [one["syncEvent"] for event in await mailbox.take() if (one := sync.of(event))]
    for session in (talk.session, other.session):
        own = [(event["id"], event["seq"]) for event in told if event["aggregateID"] == session.id]
        found = await history(session.id)
        assert own == [(event["id"], event["seq"]) for event in found]
        assert found[-1]["data"]["part"]["text"] == "Hello."
        assert await history(session.id, known=len(found) - 2) == found[-1:]


@pytest.mark.parametrize("kept", [0, 1, 3, 6])
async def test_it_goes_on_where_the_log_was_pruned(tmp_path: Path, kept: int) -> None:
    talk = await talked(tmp_path / "p")
    before = await history(talk.session.id)
    await in_db(events.prune, kept)
    assert await in_db(Event.objects.count) == kept
    assert len(await history(talk.session.id)) == len(before)
    await talk.prompt("Again")
    after = await history(talk.session.id)
    assert len(after) == len(before) + 2
    assert await history(talk.session.id, known=len(before) - 1) == after[len(before) :]
    await in_db(events.prune, 0)
    await history(talk.session.id)
    await in_db(session_store.rename, talk.session.id, "Other")
    assert len(await history(talk.session.id)) == len(after) + 1


async def test_copies_count_the_rows_that_came_with_them(tmp_path: Path) -> None:
    talk = await talked(tmp_path / "p")
    copy = await in_db(forks.fork, talk.session)
    before = await history(copy.id)
    beside = Talk(talk.project, copy)
    await beside.prompt("Of the copy")
    assert len(await history(copy.id)) == len(before) + 2

    entries = await in_db(messages.history, talk.session.id)
    info = {**session_wire(talk.session), "id": talk.session.id[:-1] + "_"}
    renamed = [
        {
            "info": {**entry["info"], "id": entry["info"]["id"] + "_", "sessionID": info["id"]},
            "parts": [
                {
                    **part,
                    "id": part["id"] + "_",
                    "messageID": part["messageID"] + "_",
                    "sessionID": info["id"],
                }
                for part in entry["parts"]
            ],
        }
        for entry in entries
    ]
    assert await in_db(importing.put, info, renamed[:1], []) == "imported"
    first = await history(info["id"])
    assert await in_db(importing.put, info, renamed, []) == "updated"
    assert len(await history(info["id"])) == len(first) + 1 + sum(1 + len(one["parts"]) for one in renamed)


async def test_what_is_gone_leaves_no_hole(tmp_path: Path) -> None:
    talk = await talked(tmp_path / "p")
    (answer,) = await in_db(lambda: list(Message.objects.filter(session=talk.session, role="assistant")))
    await in_db(messages.remove_message, talk.session.id, answer.id)
    found = await history(talk.session.id)
    assert found[-1]["type"] == "message.removed.1"
    await in_db(session_store.delete, talk.session.id)
    assert (await in_db(sync.history, talk.session.id))[-1]["type"] == "session.deleted.1"
