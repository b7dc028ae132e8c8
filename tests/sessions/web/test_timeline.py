"""The timeline's page: hostile text escaped, filters, points, bad input refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from sessions.core.db import in_db
from sessions.core.models import FileChange, Session
from tests.sessions.changes.review.world import World

EVIL = "<script>alert(1)</script>\u202e.txt"


@pytest.fixture(autouse=True)
def pages_alone(settings: Settings) -> None:
    settings.MIDDLEWARE = []


def base(session: Session) -> str:
    return f"/p/{session.project_id}/s/{session.id}/timeline"


async def got(client: AsyncClient, url: str) -> str:
    response = await client.get(url)
    assert response.status_code == 200, url
    return response.content.decode()


async def newest() -> int:
    return await in_db(lambda: FileChange.objects.order_by("-id").values_list("id", flat=True)[0])


async def test_the_page_has_slider_list_and_filter(async_client: AsyncClient, world: World) -> None:
    session = await world.session("<b>Title</b>")
    await world.turn(session, {EVIL: "made\n"})
    page = await got(async_client, base(session))
    assert 'type="range" min="0" max="1"' in page
    assert "<b>Title</b>" not in page
    assert "<script>alert" not in page
    assert "\u202e" not in page
    only = await got(async_client, f"{base(session)}/moments?kind=turn&kind=nonsense&show=x")
    assert 'data-kind="turn"' in only
    assert 'data-kind="edit"' not in only


async def test_a_point_is_shown_and_opened(async_client: AsyncClient, world: World) -> None:
    session = await world.session()
    await world.turn(session, {"kept.txt": "ONE\ntwo\nthree\n", EVIL: "made\n"})
    change = await newest()
    shown = await got(async_client, f"{base(session)}/at?change={change}")
    assert "2 files changed, 2 lines added, 1 removed" in shown
    assert "<script>alert" not in shown
    opened = await got(async_client, f"{base(session)}/point?change={change}")
    assert opened.count('<table class="diff unified') == 2
    assert "Fork from here" in opened
    assert "had changed no file" in await got(async_client, f"{base(session)}/at?change=0")


async def test_images_of_a_point_are_served_and_nothing_else(async_client: AsyncClient, world: World) -> None:
    session = await world.session()
    pixel = Path(__file__).parents[3] / "static" / "icon.svg"
    await world.turn(session, {"kept.txt": "secret\n", "icon.svg": pixel.read_text()})
    change = await newest()
    rows = await in_db(lambda: list(FileChange.objects.values_list("path", "after")))
    text = next(after for path, after in rows if path == "kept.txt")
    url = f"{base(session)}/review/image"
    for asked in (
        f"{url}/{text}?change={change}&path=kept.txt",
        f"{url}/{text}?change={change}&path=icon.svg",
    ):
        assert (await async_client.get(asked)).status_code == 404


@pytest.mark.parametrize("query", ["", "?change=", "?change=x", "?change=-1", "?change=" + "9" * 30])
async def test_no_point_is_not_found(async_client: AsyncClient, world: World, query: str) -> None:
    session = await world.session()
    for page in ("at", "point", "review/file"):
        assert (await async_client.get(f"{base(session)}/{page}{query}")).status_code == 404


async def test_a_session_of_another_project_is_not_found(async_client: AsyncClient, world: World) -> None:
    session = await world.session()
    assert (await async_client.get(f"/p/other/s/{session.id}/timeline")).status_code == 404
