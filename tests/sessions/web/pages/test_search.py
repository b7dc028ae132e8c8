"""The page of the search: what it shows, where its links go, and that nothing in a text acts on it."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.store import index
from sessions.core.store import sessions as session_store
from sessions.web.pages.conversation import PAGE
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}


async def page(client: AsyncClient, url: str, headers: Any = None, **query: str) -> str:
    response = await client.get(url, query, headers=headers)
    assert response.status_code == 200, response.status_code
    return response.content.decode()


async def test_words_are_marked_and_nothing_acts(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path, title="<b>About</b>")
    prompt = await talk.prompt("<script>alert('quokka')</script>")
    found = await page(async_client, "/search", q="quokka", project=talk.project.id)
    assert "&lt;script&gt;alert(&#x27;<mark>quokka</mark>&#x27;)" in found
    assert "<b>About" not in found
    assert "<script>alert" not in found
    (link,) = re.findall(r'class="hit" href="([^"]*)"', found)
    address = html.unescape(link)
    assert address.startswith(f"{talk.url}?found=quokka&part=prt_")
    assert address.endswith(f"#{prompt}")
    session = await page(async_client, address.partition("#")[0])
    assert 'data-found="[&quot;quokka&quot;]"' in session
    assert 'data-found="' not in await page(async_client, talk.url)


async def test_what_is_typed_renews_what_is_found_and_the_address(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk = await Talk.begin(tmp_path)
    await talk.prompt("a quokka")
    response = await async_client.get("/search", {"q": "quok", "project": talk.project.id}, headers=HTMX)
    assert response["HX-Replace-Url"] == f"/search?q=quok&project={talk.project.id}"
    assert "<html" not in response.content.decode()
    assert "Nothing found" in await page(async_client, "/search", HTMX, q="wombat")
    assert "Nothing is looked for yet" in await page(async_client, "/search", HTMX, q="")
    assert "no date" in await page(async_client, "/search", HTMX, q="after:soon")
    assert "No project is called" in await page(async_client, "/search", HTMX, q="project:nowhere x")


async def test_filters_and_their_values_are_offered(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "zoo")
    await in_db(session_store.update, talk.session.id, agent="build", provider_id="p", model_id="m 1")

    async def offered(text: str) -> list[str]:
        found = await page(async_client, "/search", HTMX, q=text, project=talk.project.id)
        return [html.unescape(word) for word in re.findall(r'data-complete="([^"]*)"', found)]

    assert {"file:", "ran:", "has:error", "agent:"} <= set(await offered(""))
    assert await offered("words af") == ["after:"]
    assert await offered("agent:") == ["agent:build"]
    assert await offered("model:") == ['model:"p/m 1"']
    assert await offered("project:") == ["project:this", "project:zoo"]
    assert "after:7d" in await offered("after:")


async def test_how_far_the_index_is(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    many = 2 * index.FEW + 1
    for number in range(many):
        await talk.prompt(f"quokka {number}")
    while await in_db(index.catch_up, 5):
        pass
    assert "<progress" not in await page(async_client, "/search")
    await in_db(index.start_over)
    assert f'<progress max="{many}" value="{index.FEW}"' in await page(async_client, "/search")
    while await in_db(index.catch_up, 5):
        pass
    assert "<progress" not in await page(async_client, "/search/progress")


async def test_what_is_not_in_the_index_yet_is_found_when_it_is(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk = await Talk.begin(tmp_path)
    await talk.prompt("the only wallaby")
    for number in range(index.FEW):
        await talk.prompt(f"quokka {number}")
    found = await page(async_client, "/search", q="wallaby")
    assert ("Nothing found" in found, '<progress max="26" value="25"' in found) == (True, True)
    assert "index:whole from:body" in found
    await in_db(index.start_over)
    typed = await page(async_client, "/search", HTMX, q="wallaby")
    # The page that it is typed in may have had nothing to wait for.
    assert re.search(r'<div id="index-progress" hx-swap-oob="true"\s+hx-get="/search/progress"', typed)
    answer = await async_client.get("/search/progress")
    assert answer["HX-Trigger"] == "index:whole"
    assert "the only" in await page(async_client, "/search", q="wallaby")


async def test_the_way_to_an_old_message_is_short(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    ids = [await talk.prompt(str(number)) for number in range(4 * PAGE)]
    older = await page(async_client, f"{talk.url}/messages", before=ids[-PAGE], until=ids[2])
    assert re.findall(r'<article id="(msg_\w+)"', older) == ids[2:-PAGE]


async def test_the_list_of_sessions_leads_on(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path)
    found = await page(async_client, f"/p/{talk.project.id}/sessions", q="a b")
    assert f'/search?q=a%20b&amp;project={talk.project.id}"' in found
