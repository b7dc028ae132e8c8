"""Several sessions of the list at once."""

from __future__ import annotations

import io
import json
import re
import zipfile
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

from sessions.core.db import in_db
from sessions.core.models import Session
from sessions.core.store import sessions as session_store
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


async def three(talk: Talk) -> list[str]:
    """The talk's own session and two more."""
    made = [
        await in_db(session_store.create, talk.project, talk.session.directory, title=f"more {number}")
        for number in range(2)
    ]
    return [talk.session.id, *(row.id for row in made)]


def way_back(toast: str) -> tuple[str, dict[str, Any]]:
    """Where its Undo posts to, and what."""
    [(url, values)] = re.findall(r'hx-post="(.*?)" hx-vals="(.*?)"', toast)
    return url, json.loads(unescape(values))


async def states(ids: list[str], column: str) -> list[bool]:
    rows = await in_db(lambda: {row.id: row for row in Session.objects.filter(id__in=ids)})
    return [bool(getattr(rows[id], column)) for id in ids]


@pytest.mark.parametrize(
    ("what", "column"), [("archive", "time_archived"), ("pin", "time_pinned"), ("delete", "time_deleted")]
)
async def test_what_is_done_to_several_is_taken_back_by_one_undo(
    async_client: AsyncClient, tmp_path: Path, what: str, column: str
) -> None:
    talk = await Talk.begin(tmp_path / "project")
    ids = await three(talk)
    answer = await async_client.post(f"/p/{talk.project.id}/sessions/{what}", {"session": ids[:2]})
    toast = answer.content.decode()
    assert "2 sessions were" in toast
    assert await states(ids, column) == [True, True, False]
    url, values = way_back(toast)
    assert (await async_client.post(url, values)).content == b""
    assert await states(ids, column) == [False, False, False]


async def test_undo_leaves_what_was_so_before(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    ids = await three(talk)
    await in_db(session_store.pin, ids[0])
    toast = (await async_client.post(f"/p/{talk.project.id}/sessions/pin", {"session": ids})).content.decode()
    url, values = way_back(toast)
    await async_client.post(url, values)
    assert await states(ids, "time_pinned") == [True, False, False]
    await async_client.post(f"/p/{talk.project.id}/sessions/pin", {"session": ids[:1]})
    assert await states(ids, "time_pinned") == [False, False, False]


async def test_sessions_of_another_project_and_subagents_are_left_alone(
    async_client: AsyncClient, tmp_path: Path
) -> None:
    talk, other = await Talk.begin(tmp_path / "one"), await Talk.begin(tmp_path / "two")
    child = await in_db(session_store.create, talk.project, talk.session.directory, parent=talk.session.id)
    answer = await async_client.post(
        f"/p/{talk.project.id}/sessions/delete", {"session": [other.session.id, child.id]}
    )
    assert "nothing to do" in answer.content.decode()
    assert await states([other.session.id, child.id], "time_deleted") == [False, False]


async def test_several_are_exported_as_one_archive(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project", title="Same/title")
    other = await in_db(session_store.create, talk.project, talk.session.directory, title="Same/title")
    await talk.prompt("Said here")
    chosen = {"session": [talk.session.id, other.id]}
    dialog = await async_client.get(f"/p/{talk.project.id}/sessions/export", chosen)
    assert "Export 2 sessions" in dialog.content.decode()
    url = f"/p/{talk.project.id}/sessions/export.zip"
    answer = await async_client.get(url, {**chosen, "form": "md"})
    with zipfile.ZipFile(io.BytesIO(answer.content)) as packed:
        names = packed.namelist()
        assert sorted(names) == sorted(f"Same-title-{row.slug}.md" for row in (talk.session, other))
        assert any("Said here" in packed.read(name).decode() for name in names)
    assert (await async_client.get(url, {**chosen, "form": "exe"})).status_code == 422


async def test_nothing_changes_by_get(async_client: AsyncClient, tmp_path: Path) -> None:
    talk = await Talk.begin(tmp_path / "project")
    for what in ("archive", "pin", "delete", "restore"):
        assert (await async_client.get(f"/p/{talk.project.id}/sessions/{what}")).status_code == 405
