"""Keeping by click in the review panel: what was shown, and the choice that a conflict leaves."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.test import AsyncClient

from sessions.changes.operations.staged import take_back
from sessions.core.db import in_db
from sessions.core.models import Session
from tests.sessions.changes.operations.stage import keys, staged, waiting
from tests.sessions.changes.review.world import World

LINES = "".join(f"{number}\n" for number in range(1, 31))
EDITED = LINES.replace("2\n", "two\n", 1).replace("29\n", "twenty-nine\n")
MINE = LINES.replace("2\n", "mine\n", 1)


def base(session: Session) -> str:
    return f"/p/{session.project_id}/s/{session.id}"


async def panel(client: AsyncClient, session: Session) -> dict[str, str]:
    """By file, what its buttons say that they were drawn with."""
    page = (await client.get(f"{base(session)}/review?scope=staged")).content.decode()
    found = re.findall(r'data-key="([^"]*)"[^>]*data-drawn="([^"]*)"', page)
    return {unescape(key): drawn for key, drawn in found}


async def post(client: AsyncClient, session: Session, what: str, **form: object) -> tuple[int, str]:
    answer = await client.post(f"{base(session)}/staging/{what}", {"noted": "1", "panel": "1", **form})
    return answer.status_code, answer.content.decode()


async def test_a_button_of_the_panel_is_for_what_it_was_drawn_with(
    world: World, async_client: AsyncClient
) -> None:
    session = await world.session()
    await staged(world, session, "new.txt", "seen\n")
    await staged(world, session, "kept.txt", None)
    await staged(world, session, "sub/moved.txt", "one\ntwo\nthree\n")
    drawn = await panel(async_client, session)
    assert sorted(drawn) == ["new.txt", "sub/moved.txt"]
    await staged(world, session, "new.txt", "seen\nunseen\n")
    for form in ({"drawn": drawn["new.txt"]}, {"drawn": ""}, {}):
        status, said = await post(async_client, session, "keep", file="new.txt", **form)
        assert (status, "edited since you looked" in said) == (422, True)
    drawn |= await panel(async_client, session)
    for name in drawn:
        status, said = await post(async_client, session, "keep", file=name, drawn=drawn[name])
        assert status == 200, said
    assert sorted(world.state()) == ["new.txt", "sub", "sub/moved.txt"]


async def conflict(world: World) -> Session:
    world.write("file", LINES)
    session = await world.session()
    await staged(world, session, "file", EDITED)
    world.write("file", MINE)
    return session


@pytest.mark.parametrize(
    ("choice", "line"), [("file", "mine\n"), ("other", "two\n"), ("hand", "both\nof us\n")]
)
async def test_a_conflict_is_settled_by_a_choice(
    world: World, async_client: AsyncClient, choice: str, line: str
) -> None:
    session = await conflict(world)
    drawn = (await panel(async_client, session))["file"]
    first, second = await keys(world, session, "file")
    status, page = await post(async_client, session, "keep", file="file", drawn=drawn)
    assert status == 200
    assert page.count("data-settle aria-label") == 1, "the other hunk is in no conflict"
    assert "As the agent staged it" in page
    form = {"file": "file", "hunk": first, "drawn": drawn, "choice-0": choice, "text-0": "both\r\nof us"}
    seen = re.search(r'name="seen" value="(\w+)"', page)
    assert seen is not None
    assert (world.root / "file").read_text() == MINE
    status, page = await post(async_client, session, "resolve", seen=seen[1], **form)
    assert (status, "Kept 1 file." in page) == (200, True)
    assert (world.root / "file").read_text() == MINE.replace("mine\n", line)
    assert await keys(world, session, "file") == [second]
    operation = re.search(r"/staging/back/(opn_\w+)", page)
    assert operation is not None
    await take_back(session, operation[1])
    assert (world.root / "file").read_text() == MINE
    assert await waiting(world, session) == {"file": EDITED.encode()}


async def test_a_choice_is_for_what_was_seen(world: World, async_client: AsyncClient) -> None:
    session = await conflict(world)
    drawn = (await panel(async_client, session))["file"]
    first, _ = await keys(world, session, "file")
    form = {"file": "file", "hunk": first, "drawn": drawn, "choice-0": "other"}
    _, page = await post(async_client, session, "keep", **form)
    seen = re.search(r'name="seen" value="(\w+)"', page)
    assert seen is not None
    world.write("file", MINE + "more\n")
    assert (await post(async_client, session, "resolve", seen=seen[1], **form))[0] == 422
    assert (await post(async_client, session, "resolve", **form))[0] == 422
    world.write("file", MINE)
    await staged(world, session, "file", EDITED.replace("two\n", "another\n"))
    assert (await post(async_client, session, "resolve", seen=seen[1], **form))[0] == 422
    assert (world.root / "file").read_text() == MINE


async def test_a_new_file_over_mine_and_a_removal_of_mine_are_settled_as_a_whole(
    world: World, async_client: AsyncClient
) -> None:
    session = await world.session()
    await staged(world, session, "new.txt", "staged\n")
    await staged(world, session, "kept.txt", None)
    world.write("new.txt", "mine\n")
    world.write("kept.txt", "one\nmine\nthree\n")
    drawn = await panel(async_client, session)
    for name in drawn:
        status, page = await post(async_client, session, "keep", file=name, drawn=drawn[name])
        seen = re.search(r'name="seen" value="(\w+)"', page)
        assert (status, seen is not None) == (200, True), page
        form = {"file": name, "drawn": drawn[name], "choice-0": "other"}
        status, said = await post(async_client, session, "resolve", seen=seen[1] if seen else "", **form)
        assert status == 200, said
    assert {path: content for path, (_, content) in world.state().items()} == {"new.txt": b"staged\n"}
    assert await waiting(world, session) == {}


async def test_where_there_is_nothing_to_choose_it_is_said_why(
    world: World, async_client: AsyncClient
) -> None:
    world.write("file", LINES)
    session = await world.session()
    await staged(world, session, "file", EDITED)
    drawn = (await panel(async_client, session))["file"]
    (world.root / "file").unlink()
    status, said = await post(async_client, session, "keep", file="file", drawn=drawn)
    assert (status, "file: " in said) == (422, True)
    assert (await post(async_client, session, "resolve", file="none", drawn=drawn))[0] == 422
    assert await in_db(lambda: session.operations.count()) == 0


async def test_deleting_a_session_says_what_waits_in_it(world: World, async_client: AsyncClient) -> None:
    session = await world.session("waits")
    for name, words in (("a.txt", "1 staged file is kept"), ("b.txt", "2 staged files are kept")):
        await staged(world, session, name, "new\n")
        toast = (await async_client.post(f"{base(session)}/delete")).content.decode()
        assert words in toast
        assert f'hx-post="{base(session)}/restore"' in toast
        await async_client.post(f"{base(session)}/restore")
    assert sorted(await waiting(world, session)) == ["a.txt", "b.txt"]
    other = await world.session("empty")
    assert "staged" not in (await async_client.post(f"{base(other)}/delete")).content.decode()
