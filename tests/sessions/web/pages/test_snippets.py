"""The page of the snippets, and what `;` is offered in the prompt."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.store import snippets
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True)


async def test_they_are_saved_renamed_and_removed(async_client: AsyncClient) -> None:
    first = {"name": ";greet ", "text": "Hello\r\n${1:name}"}
    page = (await async_client.post("/settings/snippets/save", first)).content.decode()
    assert ";greet" in page
    assert [row.text for row in await in_db(snippets.named)] == ["Hello\n${1:name}"]
    await async_client.post("/settings/snippets/save", {"name": "hail", "text": "Hail", "before": "greet"})
    assert [row.name for row in await in_db(snippets.named)] == ["hail"]
    refused = await async_client.post(
        "/settings/snippets/save", {"name": "a b", "text": "x", "before": "hail"}
    )
    assert refused.status_code == 422
    assert refused["HX-Retarget"] == "#snippet-hail-problem"
    page = (await async_client.post("/settings/snippets/remove", {"before": "hail"})).content.decode()
    assert "Removed ;hail." in page
    assert await in_db(snippets.named) == []
    gone = {"name": "hail", "text": "Hail"}
    page = (await async_client.post("/settings/snippets/restore", gone)).content.decode()
    assert 'id="snippets" hx-swap-oob' in page
    assert [row.text for row in await in_db(snippets.named)] == ["Hail"]
    again = await async_client.post("/settings/snippets/restore", {"name": "hail", "text": ""})
    assert (again.status_code, again["HX-Reswap"]) == (422, "none")


async def test_one_of_the_prompt_is_told_by_a_note(async_client: AsyncClient) -> None:
    assert "<dialog" in (await async_client.get("/snippets/dialog")).content.decode()
    made = {"name": "said", "text": "Say it"}
    note = await async_client.post("/settings/snippets/save", made, headers={"HX-Target": "toasts"})
    assert "type ;said in the prompt" in note.content.decode()


async def test_the_options_have_the_branch_and_are_harmless(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await in_db(snippets.save, "branch", 'On ${branch}: <b>"${file}"')
    asked = {"q": "bra", "session": talk.session.id}
    page = (await async_client.get("/snippets/options", asked)).content.decode()
    assert 'data-snippet="On : &lt;b&gt;&quot;${file}&quot;"' in page
    await asyncio.to_thread(git, "init", "-q", "-b", "topic", talk.session.directory)
    page = (await async_client.get("/snippets/options", asked)).content.decode()
    assert 'data-snippet="On topic: ' in page
    nothing = (await async_client.get("/snippets/options", {**asked, "q": "zzz"})).content.decode()
    assert "role=" not in nothing
