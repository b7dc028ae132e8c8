"""Pinning by the pages: what is shown of it, what is refused."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.store import pins
from sessions.core.store import sessions as session_store
from sessions.rendering.messages import Place
from sessions.rendering.meter import gauge
from sessions.web.live.live import LivePage
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
MARK = 'aria-pressed="true" aria-label="Pin'


@pytest.fixture(autouse=True)
def pages_alone(settings: Settings) -> None:
    settings.MIDDLEWARE = []


async def ended(talk: Talk) -> tuple[str, str]:
    """The ids of a prompt and its answer."""
    prompt = await talk.prompt("Say it.")
    answer = await talk.answer(
        prompt,
        time={"created": now(), "completed": now()},
        finish="stop",
        tokens={"input": 900, "output": 100, "reasoning": 0, "cache": {"read": 0, "write": 0}},
    )
    await talk.text(answer, "It is <b>said</b>.", ended=True)
    return prompt, answer


async def test_a_pinned_message_is_marked_and_listed(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    _, answer = await ended(talk)
    page = (await async_client.get(talk.url)).content.decode()
    assert MARK not in page
    assert (await async_client.post(f"{talk.url}/pins", {"message": answer})).status_code == 204
    (pin,) = await in_db(pins.listing, talk.session.id)
    assert (pin.kind, pin.text) == ("answer", "It is <b>said</b>.")
    page = (await async_client.get(talk.url)).content.decode()
    assert page.count(MARK) == 1
    assert 'data-short="1 pinned"' in page
    assert "It is &lt;b&gt;said&lt;/b&gt;.</a>" in page
    assert (await async_client.post(f"{talk.url}/pins/{pin.id}/remove")).status_code == 204
    assert await in_db(pins.listing, talk.session.id) == []


async def test_other_windows_follow(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    prompt, _ = await ended(talk)
    page = LivePage(talk.session.project_id, talk.session.id, Place.of(talk.session))
    cursor = (await page.catch_up(0)).seq or 0
    await async_client.post(f"{talk.url}/pins", {"message": prompt})
    told = "".join((await page.catch_up(cursor)).html)
    assert f'id="{prompt}-foot"' in told
    assert MARK in told
    assert 'data-short="1 pinned"' in told


async def test_files_and_notes_are_refused_in_words(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    (tmp_path / "secret.txt").write_text("outside")
    (tmp_path / "project" / "data.bin").write_bytes(b"\0\1\2")
    (tmp_path / "project" / "long.txt").write_text("x" * 100_000)
    for path, words in {
        "../secret.txt": "outside",
        "data.bin": "is no text",
        "long.txt": "too large to be pinned",
        "none.txt": "no file",
    }.items():
        assert words in (await async_client.post(f"{talk.url}/pins", {"path": path})).content.decode()
    refused = await async_client.post(f"{talk.url}/pins", {"text": " "})
    assert (refused.status_code, refused["HX-Retarget"]) == (422, "#pin-note-problem")
    assert (await async_client.post(f"{talk.url}/pins", {"message": "msg_none"})).status_code == 404
    assert await in_db(pins.listing, talk.session.id) == []
    assert "<dialog" in (await async_client.get(f"{talk.url}/pins/note")).content.decode()


async def test_pins_are_a_piece_of_the_meter_and_many_are_warned_of(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await async_client.post(f"{talk.url}/pins", {"text": "x" * 400})
    _, answer = await ended(talk)
    window = {"window": 1_000, "used": 1_000, "messages": 800, "instructions": 200, "message": answer}
    session = await in_db(session_store.update, talk.session.id, window=window)
    assert session is not None
    found = {piece.kind: piece.tokens for piece in (await in_db(gauge, session)).pieces}
    assert (found["pinned"], found["messages"], found["instructions"]) == (100, 700, 200)
    page = (await async_client.get(talk.url)).content.decode()
    assert "Pins fill a fifth" not in page
    await async_client.post(f"{talk.url}/pins", {"text": "x" * 400})
    page = (await async_client.get(talk.url)).content.decode()
    assert "Pins fill a fifth" in page


async def test_a_note_that_is_unpinned_comes_back(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    added = await async_client.post(f"{talk.url}/pins", {"text": "Use <8080>.\nAlways."})
    assert added.status_code == 200
    (pin,) = await in_db(pins.listing, talk.session.id)
    answer = await async_client.post(f"{talk.url}/pins/{pin.id}/remove")
    assert answer["HX-Retarget"] == "#toasts"
    assert await in_db(pins.listing, talk.session.id) == []
    back = re.search(r'hx-post="([^"]+)" hx-vals="([^"]+)"', answer.content.decode())
    assert back is not None
    again = await async_client.post(back[1], json.loads(html.unescape(back[2])))
    assert again.status_code == 200
    assert [row.text for row in await in_db(pins.listing, talk.session.id)] == ["Use <8080>.\nAlways."]
