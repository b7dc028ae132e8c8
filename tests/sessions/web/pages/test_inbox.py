"""The list of waiting prompts over HTTP: what is shown, every change, and what comes too late."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.models import AdmittedPrompt
from sessions.core.store import inbox
from sessions.core.store import sessions as session_store
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

PIXEL = {"mime": "image/png", "url": "data:image/png;base64,AAAA", "filename": "a.png"}


async def waiting(talk: Talk) -> list[AdmittedPrompt]:
    return await in_db(inbox.waiting, talk.session.id)


async def prompted(client: AsyncClient, talk: Talk, text: str, **form: Any) -> str:
    """The id of a prompt that was sent."""
    before = {row.id for row in await waiting(talk)}
    assert (await client.post(f"{talk.url}/prompt", {"text": text, **form})).status_code == 204
    (new,) = [row for row in await waiting(talk) if row.id not in before]
    return new.id


async def test_the_delivery_is_chosen_and_switched(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await prompted(async_client, talk, "wait")
    steers = await prompted(async_client, talk, "now", delivery="steer")
    assert [row.delivery for row in await waiting(talk)] == ["steer", "queue"]
    html = (await async_client.get(talk.url)).content.decode()
    assert html.index("now</span>") < html.index("wait</span>")
    switch = f"{talk.url}/inbox/{steers}/switch"
    assert (await async_client.post(switch, {"delivery": "queue"})).status_code == 204
    assert [row.delivery for row in await waiting(talk)] == ["queue", "queue"]
    assert (
        "either steers or is queued" in (await async_client.post(switch, {"delivery": "x"})).content.decode()
    )
    refused = await async_client.post(f"{talk.url}/prompt", {"text": "a", "delivery": "soon"})
    assert refused.status_code == 422
    assert "either steers or is queued" in refused.content.decode()


async def test_an_edit_changes_the_text_and_keeps_the_rest(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    hostile = '</textarea><b>\n"old" @general'
    prompt = await prompted(async_client, talk, hostile, file=json.dumps(PIXEL), agent_mention="general")
    url = f"{talk.url}/inbox/{prompt}"
    assert (await async_client.get(url)).json() == {
        "text": hostile,
        "agents": ["general"],
        "parts": [],
        "files": [PIXEL],
        "shell": False,
    }
    page = (await async_client.get(talk.url)).content.decode()
    assert "&lt;/textarea&gt;&lt;b&gt;" in page
    assert (await async_client.post(f"{url}/edit", {"text": "line\r\nline"})).status_code == 204
    (row,) = await waiting(talk)
    assert [part.get("text", part["type"]) for part in row.parts] == ["line\nline", "file"]
    longest = await async_client.post(f"{url}/edit", {"text": "x" * 2_000_001})
    assert longest.status_code == 422
    assert "characters" in longest.content.decode()


async def test_what_comes_too_late_says_so(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    prompt = await prompted(async_client, talk, "quick")
    await in_db(inbox.promote, prompt, agent="build", provider_id="p", model_id="m")
    url = f"{talk.url}/inbox/{prompt}"
    for what, form in (("move", {"by": "1"}), ("switch", {"delivery": "steer"}), ("withdraw", {})):
        answer = await async_client.post(f"{url}/{what}", form)
        assert answer.status_code == 200
        assert "already being worked on" in answer.content.decode()
    answer = await async_client.post(f"{url}/edit", {"text": "slow"})
    assert (answer.status_code, answer["HX-Trigger"]) == (422, "late")
    assert "Your text is still here" in answer.content.decode()
    assert (await async_client.get(url)).status_code == 404


async def test_prompts_move(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    ids = [await prompted(async_client, talk, words) for words in ("one", "two")]
    assert (await async_client.post(f"{talk.url}/inbox/{ids[1]}/move", {"by": "-1"})).status_code == 204
    assert [row.id for row in await waiting(talk)] == ids[::-1]
    far = await async_client.post(f"{talk.url}/inbox/{ids[1]}/move", {"by": "9"})
    assert "one place" in far.content.decode()
    assert [row.id for row in await waiting(talk)] == ids[::-1]


async def test_what_nobody_wrote_is_not_shown_as_the_users(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    secret = {"type": "text", "text": "the plan is approved", "synthetic": True}
    await in_db(inbox.admit, talk.session, [secret], delivery="steer")
    await in_db(inbox.admit, talk.session, [{"type": "compaction", "auto": False}])
    page = (await async_client.get(talk.url)).content.decode()
    assert "the plan is approved" not in page
    assert "A tool goes on with its work" in page
    assert "Compact the conversation" in page
    assert page.count("data-withdraw") == 2
    assert "data-edit-waiting" not in page


@pytest.mark.parametrize(
    ("text", "value", "start"),
    [
        ("ask @general please", "@general", 4),
        ("\N{GRINNING FACE} @general", "@general", 3),  # in UTF-16, as browsers count
        ("@general, look", "@general", 0),
        ("ask @general-purpose", None, 0),
        ("mail me@general", None, 0),
        ("@docs/general", None, 0),
    ],
)
async def test_mentions_become_parts(
    async_client: AsyncClient, tmp_path: Path, text: str, value: str | None, start: int
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await prompted(async_client, talk, text, agent_mention=["general", "general", ""])
    (row,) = await waiting(talk)
    source = {"value": value, "start": start, "end": start + len(value or "")}
    expected = [{"type": "agent", "name": "general", "source": source}] if value else []
    assert row.parts[1:] == expected


SYMBOL: dict[str, Any] = {
    "mime": "text/plain",
    "url": "file:///project/a.py?start=3&end=3",
    "filename": "a.py",
    "source": {
        "type": "symbol",
        "path": "/project/a.py",
        "range": {"start": {"line": 2, "character": 4}, "end": {"line": 2, "character": 9}},
        "name": "greet",
        "kind": 12,
    },
}


def mention(words: str, part: Any = SYMBOL) -> str:
    return json.dumps([words, part])


async def test_what_is_mentioned_is_attached_while_it_is_in_the_text(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    both = [mention("@a.py#greet"), mention("@a.py#gre"), mention("@gone")]
    prompt = await prompted(async_client, talk, "see \N{GRINNING FACE} @a.py#greet!", part_mention=both)
    (row,) = await waiting(talk)
    place = {"value": "@a.py#greet", "start": 7, "end": 18}
    part = {"type": "file", **SYMBOL, "source": {**SYMBOL["source"], "text": place}}
    assert row.parts[1:] == [part]

    url = f"{talk.url}/inbox/{prompt}"
    (again,) = (await async_client.get(url)).json()["parts"]
    assert again == ["@a.py#greet", part]
    edit = {"text": "@a.py#greet", "part_mention": json.dumps(again)}
    assert (await async_client.post(f"{url}/edit", edit)).status_code == 204
    (row,) = await waiting(talk)
    assert [part["source"]["text"]["start"] for part in row.parts[1:]] == [0]
    assert (await async_client.post(f"{url}/edit", {**edit, "text": "no more"})).status_code == 204
    (row,) = await waiting(talk)
    assert [part["type"] for part in row.parts] == ["text"]


async def test_a_resource_whose_address_begins_with_data_is_mentioned(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    source = {"type": "resource", "clientName": "s", "uri": "data://config"}
    part = {"mime": "text/plain", "url": "data://config", "filename": "config", "source": source}
    prompt = await prompted(async_client, talk, "see @s:config", part_mention=mention("@s:config", part))
    (row,) = await waiting(talk)
    assert row.parts[1]["url"] == "data://config"
    (again,) = (await async_client.get(f"{talk.url}/inbox/{prompt}")).json()["parts"]
    assert again[0] == "@s:config"


@pytest.mark.parametrize(
    "given",
    ["{", "[]", "3", mention("@a", 3), mention("@a", {}), mention("@a", {**SYMBOL, "url": "data:,x"})],
)
async def test_a_mention_that_is_none(async_client: AsyncClient, tmp_path: Path, given: str) -> None:
    talk = await Talk.begin(tmp_path / "project")
    answer = await async_client.post(f"{talk.url}/prompt", {"text": "@a", "part_mention": given})
    assert answer.status_code == 422
    assert "mention" in answer.content.decode()
    assert await waiting(talk) == []


async def test_nothing_changes_by_get(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    prompt = await prompted(async_client, talk, "stay")
    for what in ("edit", "move", "switch", "withdraw"):
        assert (await async_client.get(f"{talk.url}/inbox/{prompt}/{what}")).status_code == 405
    assert (await async_client.get(f"{talk.url}/fork")).status_code == 200  # the dialog
    assert len(await in_db(session_store.listing, talk.project)) == 1
