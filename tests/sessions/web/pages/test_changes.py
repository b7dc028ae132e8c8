"""Prompts and the other things a person does to a session."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.models import AdmittedPrompt, Event, Session
from sessions.core.store import sessions as session_store
from sessions.core.wire.session import Status
from sessions.web.live import states
from sessions.web.pages.prompts import MAX_TEXT
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)

PIXEL = {"mime": "image/png", "url": "data:image/png;base64,AAAA", "filename": "a.png"}


async def count() -> int:
    return await in_db(AdmittedPrompt.objects.count)


async def test_a_prompt_waits_in_the_inbox_and_can_be_withdrawn(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    form = {"text": "Do <this>", "file": json.dumps(PIXEL), "agent": "plan", "model": "a/b/c"}
    response = await async_client.post(f"{talk.url}/prompt", form)
    assert response.status_code == 204
    row = await in_db(AdmittedPrompt.objects.get)
    assert [part["type"] for part in row.parts] == ["text", "file"]
    assert (row.agent, row.provider_id, row.model_id) == ("plan", "a", "b/c")
    html = (await async_client.get(talk.url)).content.decode()
    assert "Do &lt;this&gt; (+ 1 attached)" in html
    withdraw = f"{talk.url}/inbox/{row.id}/withdraw"
    assert (await async_client.post(withdraw)).status_code == 204
    assert await count() == 0
    assert "already being worked on" in (await async_client.post(withdraw)).content.decode()


@pytest.mark.parametrize(
    ("form", "why"),
    [
        ({"text": " \n "}, "Write something"),
        ({"text": "x" * (MAX_TEXT + 1)}, "characters"),
        ({"text": "a", "file": "no json"}, "damaged"),
        ({"text": "a", "file": "[]"}, "damaged"),
        ({"text": "a", "file": json.dumps(PIXEL | {"mime": "text/html"})}, "only images"),
        ({"text": "a", "file": json.dumps(PIXEL | {"url": "https://evil.example/x.png"})}, "only images"),
    ],
)
async def test_a_refused_prompt_says_why(
    async_client: AsyncClient, tmp_path: Path, form: dict[str, str], why: str
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    for url in (f"{talk.url}/prompt", f"/p/{talk.project.id}/s/"):
        response = await async_client.post(url, form)
        assert response.status_code == 422
        assert why in response.content.decode()
    assert await count() == 0
    assert await in_db(Session.objects.count) == 1


async def test_the_first_prompt_creates_the_session(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    response = await async_client.post(f"/p/{talk.project.id}/s/", {"text": "Hello"})
    created = (await in_db(AdmittedPrompt.objects.get)).session_id
    assert response["HX-Redirect"] == f"/p/{talk.project.id}/s/{created}"


async def test_delete_and_archive_are_undone(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project", title="keep me")
    listed = f"/p/{talk.project.id}/sessions"
    for what in ("delete", "archive"):
        toast = (await async_client.post(f"{talk.url}/{what}")).content.decode()
        assert f'hx-post="{talk.url}/restore"' in toast
        assert "keep me" not in (await async_client.get(listed)).content.decode()
        await async_client.post(f"{talk.url}/restore")
        assert "keep me" in (await async_client.get(listed)).content.decode()


async def test_a_session_is_pinned_without_being_used(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    child = await in_db(session_store.create, talk.project, talk.session.directory, parent=talk.session.id)
    used = (await in_db(Session.objects.get, id=talk.session.id)).used
    above = f"/p/{talk.project.id}/s/{child.id}"
    for url, form, pinned in (
        (talk.url, {"on": "1"}, True),
        (talk.url, {"on": "1"}, True),
        (talk.url, {"on": "0"}, False),
        (talk.url, {}, True),
        (above, {}, False),
    ):
        assert (await async_client.post(f"{url}/pin", form)).status_code == 204
        row = await in_db(Session.objects.get, id=talk.session.id)
        assert (bool(row.time_pinned), row.used) == (pinned, used)
    assert await in_db(Event.objects.filter(type="session.updated").count) == 4


async def test_what_is_pinned_is_listed_however_long_ago_it_was_used(
    async_client: AsyncClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "MOST_LISTED", 2)
    talk = await Talk.begin(tmp_path / "project", title="pinned")
    for number in range(3):
        await in_db(session_store.create, talk.project, talk.session.directory, title=f"later {number}")
    await in_db(session_store.pin, talk.session.id)
    listed = (await async_client.get(f"/p/{talk.project.id}/sessions")).content.decode()
    assert re.findall(r'class="session-title" dir="auto"\s+title="(.*?)"', listed) == [
        "pinned",
        "later 2",
        "later 1",
    ]


async def test_sessions_are_renamed_and_filtered(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    response = await async_client.post(f"{talk.url}/rename", {"title": "  <New> name "})
    assert "&lt;New&gt; name" in response.content.decode()
    listed = f"/p/{talk.project.id}/sessions"
    assert "&lt;New&gt;" in (await async_client.get(listed, {"q": "new"})).content.decode()
    assert "No session has this" in (await async_client.get(listed, {"q": "old"})).content.decode()


async def test_an_empty_title_is_refused(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project", title="Its title")
    response = await async_client.post(f"{talk.url}/rename", {"title": "  "})
    assert response.status_code == 422
    assert "needs a title" in response.content.decode()
    assert (await in_db(Session.objects.get, id=talk.session.id)).title == "Its title"


async def test_who_stops_a_turn_has_read_it(tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    stopped = {"name": "MessageAbortedError", "data": {"message": "Stopped"}}
    for error, unread in ((stopped, False), (None, True)):
        await in_db(session_store.set_status, talk.session.id, Status(type="busy"))
        await in_db(session_store.set_status, talk.session.id, Status(type="idle"), error=error)
        assert (await in_db(Session.objects.get, id=talk.session.id)).unread is unread


async def test_nothing_changes_by_get(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    for what in ("prompt", "abort", "pin", "archive", "delete", "restore", "read"):
        assert (await async_client.get(f"{talk.url}/{what}")).status_code == 405
