"""What is pinned: kept, refused, copied by a fork, gone with its message."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core.db import in_db
from sessions.core.models import Event, Pin
from sessions.core.store import forks, messages, pins
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
NOTE, FILE, PROMPT = Pin.Kind.NOTE, Pin.Kind.FILE, Pin.Kind.PROMPT


async def listed(talk: Talk) -> list[tuple[str, str, str]]:
    return [(row.kind, row.title, row.text) for row in await in_db(pins.listing, talk.session.id)]


async def test_a_message_is_pinned_once_and_told_anew(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    prompt = await talk.prompt("Keep  this.\n")
    first = await in_db(pins.add, talk.session, PROMPT, "Keep  this.\n", 0, message_id=prompt)
    again = await in_db(pins.add, talk.session, PROMPT, "Keep  this.\n", 0, message_id=prompt)
    assert first.id == again.id
    assert await listed(talk) == [("prompt", "Keep this.", "Keep  this.\n")]
    assert await in_db(pins.of_messages, talk.session.id) == {prompt: first.id}
    told = await in_db(lambda: list(Event.objects.order_by("id").values_list("type", "reference")))
    assert [type for type, _ in told[-2:]] == ["session.pins", "message.updated"]
    assert told[-1][1] == {"messageID": prompt}
    assert await in_db(pins.remove, talk.session, first.id)
    assert not await in_db(pins.remove, talk.session, first.id)
    assert await listed(talk) == []


async def test_a_file_is_pinned_as_it_is_now_and_notes_are_many(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    for text in ("one", "two"):
        await in_db(pins.add, talk.session, FILE, text, 0, path="a.py", title="a.py")
        await in_db(pins.add, talk.session, NOTE, text, 0)
    expected = [("note", "one", "one"), ("file", "a.py", "two"), ("note", "two", "two")]
    assert await listed(talk) == expected


async def test_what_is_too_large_or_empty_is_refused_in_words(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await in_db(pins.add, talk.session, NOTE, "x" * 12_000, 10_000)
    with pytest.raises(pins.Refused, match=r"about 2,001 tokens beside the 3,000 .* may fill 5,000"):
        await in_db(pins.add, talk.session, NOTE, "x" * 8_001, 10_000)
    await in_db(pins.add, talk.session, NOTE, "x" * 8_000, 10_000)
    with pytest.raises(pins.Refused, match="no text"):
        await in_db(pins.add, talk.session, NOTE, " \n", 10_000)
    with pytest.raises(pins.Refused, match="may fill 16,000"):
        await in_db(pins.add, talk.session, NOTE, "x" * 50_000, 0)


async def test_a_fork_takes_along_what_it_has(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    first, second = await talk.prompt("First"), await talk.prompt("Second")
    for prompt in (first, second):
        await in_db(pins.add, talk.session, PROMPT, prompt, 0, message_id=prompt)
    await in_db(pins.add, talk.session, NOTE, "A note", 0)
    copy = await in_db(forks.fork, talk.session, second)
    (entry,) = await in_db(messages.history, copy.id)
    found = await in_db(pins.listing, copy.id)
    assert [(row.text, row.message_id) for row in found] == [(first, entry["info"]["id"]), ("A note", None)]
    assert len(await listed(talk)) == 3


async def test_what_is_undone_for_good_is_pinned_no_more(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    prompt = await talk.prompt("First")
    await in_db(pins.add, talk.session, PROMPT, "First", 0, message_id=prompt)
    await in_db(messages.remove_messages, talk.session.id, prompt)
    assert await listed(talk) == []
