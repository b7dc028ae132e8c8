"""The review of a session that changed files of folders beside the project: each folder's below a heading."""

from __future__ import annotations

import re

from django.test import AsyncClient

from sessions.core.ids import ascending
from sessions.core.models import Session
from tests.sessions.changes.review.world import World


def base(session: Session) -> str:
    return f"/p/{session.project_id}/s/{session.id}"


async def edited(world: World, library: World) -> Session:
    session = await world.session()
    await world.turn(session, {"kept.txt": "a\n", "src/zoo.txt": "z\n"})
    for path in ("kept.txt", "src/deep/new.txt"):
        await library.edit(session, ascending("msg"), path, "b\n")
    return session


async def panel(client: AsyncClient, session: Session, query: str = "") -> str:
    return str((await client.get(f"{base(session)}/review{query}")).content.decode())


def order(page: str) -> list[str]:
    """The files and, after a `#`, the headings of folders, as they come."""
    places = re.compile(r'data-file="(?P<file>[^"]*)"|class="review-root" title="(?P<folder>[^"]*)"')
    return [found["file"] or f"# {found['folder']}" for found in places.finditer(page)]


async def test_files_of_a_folder_come_below_its_name(
    world: World, library: World, async_client: AsyncClient
) -> None:
    session, root = await edited(world, library), str(library.root)
    page = await panel(async_client, session)
    assert order(page) == [
        "kept.txt",
        "src/zoo.txt",
        f"# {root}",
        f"{root}/kept.txt",
        f"{root}/src/deep/new.txt",
    ]
    assert '<span class="name">library</span>' in page
    assert page.count('<h3 class="file-title">') == 2
    assert page.count('<h4 class="file-title">') == 2
    assert '<span class="folder soft">src/deep/</span><span class="name">new.txt</span>' in page
    assert f'<details open data-folder="{root}"><summary title="{root}">library</summary>' in page
    assert '<details open data-folder="src/deep"><summary>src/deep</summary>' in page
    assert "0 of 4 viewed" in page
    one = await async_client.post(
        f"{base(session)}/review/mark", {"kind": "viewed", "on": "1", "path": f"{root}/kept.txt"}
    )
    assert order(one.content.decode()) == [f"{root}/kept.txt"]


async def test_who_changed_nothing_beside_sees_no_heading(
    world: World, library: World, async_client: AsyncClient
) -> None:
    session = await edited(world, library)
    for page in (
        await panel(async_client, session, "?scope=project"),
        await panel(async_client, session, "?scope=git"),
    ):
        assert order(page) == ["kept.txt", "src/zoo.txt"]
    assert (await panel(async_client, await library.session(), "?scope=project")).count("review-root") == 0


async def test_a_folder_is_named_by_text(world: World, async_client: AsyncClient) -> None:
    folder = world.root.parent / "<b>\u202e&"
    folder.mkdir()
    hostile = await World.open(folder)
    session = await world.session()
    await world.turn(session)
    await hostile.edit(session, ascending("msg"), "a.txt", "a\n")
    page = re.sub(r'data-key="[^"]*"', "", await panel(async_client, session))
    assert "<b>" not in page
    assert "\u202e" not in page
    assert '<span class="name">&lt;b&gt;' in page
