"""The dialog that moves a session to a worktree, and what pages of the original folder show then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from sessions.changes.operations.conversation import revert
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import Session
from sessions.web.live import states
from tests.sessions.changes.review.world import World, fresh
from tests.sessions.changes.worktrees.conftest import world as world  # the fixture


@pytest.fixture(autouse=True)
def pages_alone(settings: Settings) -> None:
    settings.MIDDLEWARE = []


async def test_what_would_go_is_shown_and_then_goes(async_client: AsyncClient, world: World) -> None:
    session = await world.session("Fix it")
    await world.turn(session, {"src/a.py": "ONE\n", "<b>.txt": "x\n"})
    await world.turn(session, {"own.log": "ignored\n"})
    base = session.get_absolute_url()
    assert f'hx-get="{base}/move"' in (await async_client.get(f"{base}/menu")).content.decode()
    dialog = (await async_client.get(f"{base}/move")).content.decode()
    for words in ("Changed by this session: 2", "Changed by others: 2", "&lt;b&gt;.txt", "own.log"):
        assert words in dialog
    answer = await async_client.post(f"{base}/move", {"name": "Aside", "files": "own"})
    moved = await fresh(session)
    assert answer["HX-Redirect"] == moved.get_absolute_url()
    assert json.loads(answer["HX-Trigger"])["session:moved"] == {
        "from": world.project.id,
        "project": moved.project_id,
        "session": session.id,
    }
    assert Path(moved.directory).name == "aside"
    assert (world.root / "new.txt").exists()
    assert (await async_client.get(base))["Location"] == moved.get_absolute_url()
    assert (await async_client.get(moved.get_absolute_url())).status_code == 200
    assert not await in_db(states.sidebar_item, session.id, world.project.id)
    assert await in_db(states.sidebar_item, session.id, moved.project_id)


async def test_a_refusal_is_said_in_the_dialog_and_beside_the_button(
    async_client: AsyncClient, world: World
) -> None:
    session = await world.session()
    base = session.get_absolute_url()
    await in_db(Session.objects.filter(id=session.id).update, lease_owner="worker", status={"type": "busy"})
    assert "Stop the turn first" in (await async_client.get(f"{base}/move")).content.decode()
    refused = await async_client.post(f"{base}/move", {})
    assert (refused.status_code, "Stop the turn first" in refused.content.decode()) == (422, True)
    assert (await fresh(session)).project_id == world.project.id


async def test_what_lies_beside_the_project_stays_and_is_undone_from_there(
    async_client: AsyncClient, world: World
) -> None:
    folder = world.root.parent / "library"
    folder.mkdir()
    library, session = await World.open(folder), await world.session("Fix it")
    base = session.get_absolute_url()
    assert "beside the project" not in (await async_client.get(f"{base}/move")).content.decode()
    prompt = await world.turn(session, {"src/a.py": "ONE\n"})
    await library.edit(session, ascending("msg"), "made.txt", "made\n")
    dialog = (await async_client.get(f"{base}/move")).content.decode()
    forks = (await async_client.get(f"{base}/fork/files", {"before": prompt})).content.decode()
    for page in (dialog, forks):
        assert "beside the project stays there as it is" in page
        assert str(folder) in page
    await async_client.post(f"{base}/move", {"name": "Aside", "files": "own"})
    moved = await fresh(session)
    aside = Path(moved.directory)
    assert (aside / "src" / "a.py").read_text() == "ONE\n"
    assert (folder / "made.txt").read_text() == "made\n"
    await revert(moved, prompt)
    assert (aside / "src" / "a.py").read_text() == "one\ntwo\nthree\n"
    assert not (folder / "made.txt").exists()
