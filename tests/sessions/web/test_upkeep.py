"""The settings page without a browser: who gets what, and what bad input gets."""

from __future__ import annotations

import pytest
from django.http import Http404, HttpRequest
from django.test import RequestFactory

from sessions.changes.snapshots.sweep import GRACE_SECONDS
from sessions.changes.upkeep.usage import full_mark, measure, settle
from sessions.core.db import in_db
from sessions.core.store import sessions as session_store
from sessions.web import upkeep
from tests.sessions.changes.review.world import World
from tests.sessions.changes.snapshots.test_sweep import age

ask = RequestFactory()


def text(response: object) -> str:
    return bytes(response.content).decode()  # type: ignore[attr-defined]


async def test_the_meter_counts_projects_and_sessions(world: World) -> None:
    session = await world.session("<b>Hostile</b>")
    await world.turn(session, {"kept.txt": "of the agent\n" * 500})
    shown = text(await upkeep.settings_page(ask.get("/settings", {"project": world.project.id})))
    assert "1 session" in shown
    assert f"/p/{world.project.id}/log" in shown
    held = text(await upkeep.project(ask.get("/"), world.project.id))
    assert "&lt;b&gt;Hostile&lt;/b&gt;" in held
    assert "KB" in held


async def test_cleaning_up_says_what_it_freed(world: World) -> None:
    world.tracker.objects.put(b"put by nobody\n")
    age(world.tracker.store.root)
    assert "1 object that nothing needs" in text(await upkeep.clean(ask.post("/")))
    assert "nothing to clean up" in text(await upkeep.clean(ask.post("/")))
    assert GRACE_SECONDS >= 60


async def test_deleted_sessions_go_only_when_asked(world: World) -> None:
    session = await world.session()
    await world.turn(session, {"kept.txt": "of the agent\n"})
    await in_db(session_store.delete, session.id)
    assert "gone for good" not in text(await upkeep.clean(ask.post("/")))
    assert await in_db(session_store.restore, session.id)
    await in_db(session_store.delete, session.id)
    assert "gone for good" in text(await upkeep.clean(ask.post("/", {"deleted": "1"})))
    assert await in_db(session_store.restore, session.id) is None


@pytest.mark.parametrize("method", ["get", "put", "delete"])
async def test_cleaning_up_is_a_post(method: str) -> None:
    request: HttpRequest = getattr(ask, method)("/settings/store/clean")
    assert (await upkeep.clean(request)).status_code == 405


async def test_unknown_projects(transactional_db: None) -> None:
    with pytest.raises(Http404):
        await upkeep.project(ask.get("/"), "nothing")
    with pytest.raises(Http404):
        await upkeep.settings_page(ask.get("/settings", {"project": "nothing"}))


async def test_the_quota(world: World, settings: pytest.FixtureRequest) -> None:
    session = await world.session()
    await world.turn(session, {"kept.txt": "of the agent\n"})
    size = measure(world.tracker.store.root).size
    assert size > 0
    settings.STORE_QUOTA = size - 1  # type: ignore[attr-defined]
    assert settle(size)
    assert full_mark().exists()
    assert "The store is full." in text(await upkeep.settings_page(ask.get("/settings")))
    settings.STORE_QUOTA = size * 2  # type: ignore[attr-defined]
    shown = text(await upkeep.settings_page(ask.get("/settings")))
    assert "The store is full." not in shown
    assert not full_mark().exists()
