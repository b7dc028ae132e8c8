"""The review of a session that changed files of folders beside the project: each folder's below a heading."""

from __future__ import annotations

import re

from django.test import AsyncClient

from sessions.changes.review.verdicts import Scope, judge, listing
from sessions.changes.snapshots.objects import object_id
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import Session
from sessions.core.store import problems
from sessions.core.store.problems import Finding, Problem
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
    one = await async_client.post(f"{base(session)}/review/view", {"on": "1", "path": f"{root}/kept.txt"})
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


async def test_a_conflict_is_settled_in_its_root(
    world: World, library: World, async_client: AsyncClient
) -> None:
    session = await edited(world, library)
    path, url = str(library.root / "kept.txt"), f"{base(session)}/review"
    found = await listing(session, Scope())
    file = found.file(path)
    assert file is not None
    ((key, _),) = judge(file, found)[0].hunks.items()
    library.write("kept.txt", "b, and mine\n")
    page = (await async_client.post(f"{url}/undo", {"path": path, "hunk": key})).content.decode()
    assert "b, and mine" in page
    assert "the library&#x27;s" in page
    seen = re.search(r'name="seen" value="(\w+)"', page)
    assert seen
    given = {"path": path, "hunk": key, "seen": seen[1], "choice-0": "hand", "text-0": "settled\n"}
    assert (await async_client.post(f"{url}/resolve", given)).status_code == 200
    assert (library.root / "kept.txt").read_text() == "settled\n"
    assert (world.root / "kept.txt").read_text() == "a\n"


async def test_the_editor_is_told_what_the_session_changed(
    world: World, library: World, async_client: AsyncClient
) -> None:
    session = await edited(world, library)
    url, path = f"{base(session)}/review/lines", str(library.root / "kept.txt")
    told = (await async_client.get(url, {"path": path})).json()
    assert [(one["line"], one["removed"]) for one in told["stretches"]] == [(1, "the library's\n")]
    assert told["seen"] == object_id(b"b\n")


async def test_a_picture_is_of_its_root(world: World, library: World, async_client: AsyncClient) -> None:
    session = await world.session()
    await library.edit(session, ascending("msg"), "logo.gif", b"GIF89a\x05\0\x07\0")
    oid, path = object_id(b"GIF89a\x05\0\x07\0"), str(library.root / "logo.gif")
    answer = await async_client.get(f"{base(session)}/review/image/{oid}", {"path": path})
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/gif")


async def test_problems_are_those_of_its_root(
    world: World, library: World, async_client: AsyncClient
) -> None:
    session = await edited(world, library)
    for project, said in ((world.project.id, "of the project"), (library.project.id, "of the library")):
        problem = Problem(0, 0, 0, 1, 1, said, "rule", "checker", "server")
        before, after = object_id(b"the library's\n"), object_id(b"b\n")
        findings = [
            Finding(project, "kept.txt", before, "server", ()),
            Finding(project, "kept.txt", after, "server", (problem,)),
        ]
        await in_db(problems.put, findings)
    page = await panel(async_client, session)
    assert "of the library" in page
    assert "of the project" not in page
    assert page.count("+1</span> error") == 2, "of the file, and of all"
