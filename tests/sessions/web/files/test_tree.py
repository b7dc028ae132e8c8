"""The tree as a browser gets it: rows of a folder, those found by letters, marks."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from html import unescape

import pytest
from django.test import AsyncClient

from sessions.core.ids import ascending
from sessions.web.files import tree
from tests.sessions.changes.review.world import World

HOSTILE = "<img src=x onerror=alert(1)>\u202e.py"


def paths(page: str) -> list[str]:
    return [unescape(path) for path in re.findall(r'data-path="([^"]*)"', page)]


async def listed(client: AsyncClient, world: World, query: str = "") -> str:
    answer = await client.get(f"/p/{world.project.id}/files/tree?{query}")
    assert answer.status_code == 200
    return str(answer.content.decode())


async def test_folders_come_first_and_what_git_ignores_is_told(
    world: World, async_client: AsyncClient
) -> None:
    world.write(".gitignore", "built/\n")
    world.write("built/x", "")
    world.write("Zoo/inner/deep", "")
    world.write("alpha", "")
    page = await listed(async_client, world)
    assert paths(page) == ["built", "Zoo", ".gitignore", "alpha", "kept.txt"]
    assert page.count("data-ignored") == 1
    assert page.count('aria-expanded="false"') == 2
    assert paths(await listed(async_client, world, "path=Zoo/inner")) == ["Zoo/inner/deep"]
    assert "An\n    empty folder" not in page


async def test_what_is_tracked_is_not_ignored(world: World, async_client: AsyncClient) -> None:
    world.write(".gitignore", "*.log\n")
    for name in ("forced.log", "plain.log"):
        world.write(name, "")
    add = ["git", "-C", str(world.root), "add", "-f", "forced.log"]
    await asyncio.to_thread(subprocess.run, add, check=True)
    rows = (await listed(async_client, world)).split("<li ")
    assert paths("".join(row for row in rows if "data-ignored" in row)) == ["plain.log"]


async def test_what_leads_out_is_refused(world: World, async_client: AsyncClient) -> None:
    os.symlink("/etc", world.root / "away")
    assert "away" not in paths(await listed(async_client, world))
    for path in ("..", "/etc", "away", "kept.txt", "gone"):
        answer = await async_client.get(f"/p/{world.project.id}/files/tree?path={path}")
        assert answer.status_code == 422, path


async def test_many_rows_come_in_pieces(
    world: World, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "AT_ONCE", 3)
    for name in "abcdefg":
        world.write(f"many/{name}", "")
    page = await listed(async_client, world, "path=many")
    found = paths(page)
    while more := re.search(r'hx-get="[^"?]*\?([^"]*)"', page):
        page = await listed(async_client, world, unescape(more[1]))
        found += paths(page)
    assert found == [f"many/{name}" for name in "abcdefg"]


async def test_names_are_text_and_odd_ones_are_found_again(world: World, async_client: AsyncClient) -> None:
    world.write(HOSTILE, "")
    (world.root / os.fsdecode(b"caf\xe9")).mkdir()
    (world.root / os.fsdecode(b"caf\xe9/\xff")).write_text("")
    page = await listed(async_client, world)
    assert "<img" not in page
    assert "\u202e" not in page
    assert paths(page)[0] == "//café"
    assert paths(await listed(async_client, world, "path=//caf%C3%A9")) == ["//café/ÿ"]


async def test_letters_find_files_anywhere(world: World, async_client: AsyncClient) -> None:
    world.write("src/deep/needle.py", "")
    assert paths(await listed(async_client, world, "q=ndl")) == ["src/deep/needle.py"]
    assert "No file is called “zzz”" in await listed(async_client, world, "q=zzz")


async def test_marks_say_what_git_and_the_session_make_of_files(
    world: World, async_client: AsyncClient
) -> None:
    session = await world.session()
    await world.turn(session, {"kept.txt": "changed\n", "new/by-agent": "x"})
    world.write("staged", "x")
    await asyncio.to_thread(subprocess.run, ["git", "-C", str(world.root), "add", "staged"], check=True)
    answer = await async_client.get(f"/p/{world.project.id}/files/marks?session={session.id}")
    told = json.loads(answer.content)
    assert told["git"] == {"kept.txt": "M", "staged": "A", "new/": "?"}
    assert sorted(told["session"]) == ["kept.txt", "new/by-agent"]
    other = json.loads((await async_client.get(f"/p/{world.project.id}/files/marks")).content)
    assert other["session"] == []


async def test_a_file_beside_the_project_marks_no_other(
    world: World, library: World, async_client: AsyncClient
) -> None:
    session = await world.session()
    await library.edit(session, ascending("msg"), "kept.txt", "b\n")
    answer = await async_client.get(f"/p/{world.project.id}/files/marks?session={session.id}")
    assert json.loads(answer.content)["session"] == [str(library.root / "kept.txt")]
