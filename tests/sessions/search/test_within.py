"""Where a text stands in one conversation."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.core.db import in_db
from sessions.search import within
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def found(talk: Talk, text: str) -> list[int]:
    """How often it stands in each part that has it, in their order."""
    ids = await in_db(within.message_ids, talk.session.id)
    rows = await in_db(within.rows, ids, text)
    places = within.places(rows, text)
    assert [place.message_id for place in places] == sorted(place.message_id for place in places)
    return [place.count for place in places]


async def test_what_is_written_and_what_calls_did_is_found_in_its_order(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    prompt = await talk.prompt("A quokka, a Quokka")
    answer = await talk.answer(prompt)
    await talk.text(answer, "Nothing")
    time = {"start": 1, "end": 2}
    state = {"input": {"command": "ls"}, "output": "a\tquokka.txt", "status": "completed", "title": "ls"}
    await talk.part(answer, "tool", callID="c", tool="bash", state=state | {"time": time})
    await talk.text(answer, "for the model: quokka", synthetic=True)
    await talk.part(answer, "patch", hash="", files=["quokka.txt"])
    await (await Talk.begin(tmp_path)).prompt("another quokka")
    assert await found(talk, "quokka") == [2, 1]
    assert await found(talk, "A  quokka") == [2, 1]
    assert await found(talk, "wombat") == []


@pytest.mark.parametrize("text", ['said "ÉTÉ"', "été\\d", "100%_", "{}", "数据", "ÉTÉ,", "a\nb"])
async def test_signs_are_what_they_are(tmp_path: Path, text: str) -> None:
    talk = await Talk.begin(tmp_path)
    await talk.prompt(f"before {text.lower()} after")
    await talk.prompt('said "ete" 100x_ été5 {a} 数 a\'b')
    assert await found(talk, text) == [1]
