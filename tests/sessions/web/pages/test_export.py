"""`/export` and `/fork`."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import AsyncClient
from markdown_it import MarkdownIt

from sessions.core.db import in_db
from sessions.core.store import messages
from sessions.core.store import sessions as session_store
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

HOSTILE = "````\n# Forged\n<script>alert(1)</script> ![](https://evil.example/x.png)\n\x1b[2Jend ````````"


async def hostile_talk(folder: Path) -> Talk:
    talk = await Talk.begin(folder, title="# <img src=x> /../..\r\nx: y")
    answer = await talk.answer(await talk.prompt(HOSTILE), time={"created": 1, "completed": 2})
    await talk.text(answer, HOSTILE, ended=True)
    state = {"status": "error", "input": {"a": HOSTILE}, "error": HOSTILE, "time": {"start": 1}}
    await talk.part(answer, "tool", callID="c", tool=HOSTILE, state=state)
    await talk.part(answer, "text", text="not for people", synthetic=True)
    return talk


async def test_markdown_is_a_harmless_file(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await hostile_talk(tmp_path / "project")
    answer = await async_client.get(f"{talk.url}/export.md")
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="img-src-x-x-y.md"'
    text = answer.content.decode()
    assert "\x1b" not in text
    assert "not for people" not in text
    tokens = MarkdownIt("commonmark", {"html": True}).parse(text)
    fences = [token.content for token in tokens if token.type == "fence"]
    assert sum("# Forged\n<script>" in content for content in fences) == 3
    inline = [child for token in tokens for child in token.children or ()]
    assert not [token for token in tokens + inline if token.type in ("html_block", "html_inline", "image")]
    headings = [token.tag for token in tokens if token.type == "heading_open"]
    assert headings == ["h1", "h2", "h2", "h3"]


async def test_html_is_a_file_and_can_be_redacted(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project", title="Plans")
    await talk.prompt("the password=correct-horse")
    answer = await async_client.get(f"{talk.url}/export.html")
    assert answer["Content-Disposition"] == 'attachment; filename="Plans.html"'
    assert b"correct-horse" in answer.content
    answer = await async_client.get(f"{talk.url}/export.html?redact=1")
    assert b"correct-horse" not in answer.content
    assert b"password=[redacted]" in answer.content


async def test_json_has_everything(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await hostile_talk(tmp_path / "project")
    answer = await async_client.get(f"{talk.url}/export.json")
    assert answer["Content-Disposition"].startswith("attachment;")
    data = answer.json()
    assert data["info"]["id"] == talk.session.id
    assert data["messages"] == await in_db(messages.history, talk.session.id)


async def test_the_dialog_offers_all_and_undone_messages_stay_out(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    await talk.prompt("kept")
    undone = await talk.prompt("undone")
    await in_db(session_store.update, talk.session.id, revert={"messageID": undone})
    dialog = (await async_client.get(f"{talk.url}/export")).content.decode()
    for ending in ("md", "json", "html"):
        assert f'name="form" value="{ending}"' in dialog
    assert f'action="{talk.url}/export.html"' in dialog
    text = (await async_client.get(f"{talk.url}/export.md")).content.decode()
    assert "kept" in text
    assert "undone" not in text


async def test_fork_opens_the_copy(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project", title="Here")
    await talk.prompt("carried over")
    url = (await async_client.post(f"{talk.url}/fork"))["HX-Redirect"]
    assert url != talk.url
    page = (await async_client.get(url)).content.decode()
    assert "Here (fork #1)" in page
    assert "carried over" in page
