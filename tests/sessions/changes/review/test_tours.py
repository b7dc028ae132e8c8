"""A tour of a change: stop by stop with the review's own hunks, and what of it is no longer as it was."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.test import AsyncClient

from sessions.changes.review.tours import Route, at_stop, parts_of, route
from sessions.changes.review.verdicts import Listing, Scope, listing
from sessions.core.db import in_db
from sessions.core.models import Session, Tour
from sessions.core.store import tours
from tests.sessions.changes.review.test_verdict_pages import EDITED, LINES, base, edited, posted
from tests.sessions.changes.review.world import World

SESSION = Scope()
HUNK = re.compile(r'data-hunk="(\w+)"')


async def told(session: Session, *stops: Sequence[int], scope: Scope = SESSION) -> list[str]:
    """A tour with these hunks of a scope, by number, at its stops; the marks of all."""
    marks = [part.mark for part in parts_of(await listing(session, scope))]
    kept = [
        {"title": f"Stop {number}", "text": "It is so.", "hunks": [marks[n] for n in hunks]}
        for number, hunks in enumerate(stops, 1)
    ]
    await in_db(tours.put, session, scope.query(), kept, marks, model="demo/scripted")
    return marks


async def way(session: Session, scope: Scope = SESSION) -> tuple[Route, Listing]:
    row = await in_db(tours.of, session.id, scope.query())
    assert row is not None
    found = await listing(session, scope)
    return route(row, found), found


async def shown(client: AsyncClient, session: Session, query: str) -> str:
    answer = await client.get(f"{base(session)}?{query}")
    assert answer.status_code == 200
    return str(answer.content.decode())


async def test_what_no_stop_has_is_the_last_one(world: World) -> None:
    session = await edited(world)
    await told(session, [2, 1])
    found, _ = await way(session)
    assert [stop.title for stop in found.stops] == ["Stop 1", ""]
    assert [[part.file.path for part in stop.parts] for stop in found.stops] == [
        ["b.txt", "a.txt"],
        ["a.txt"],
    ]
    assert not found.outdated


async def test_a_stop_shows_its_hunks_alone_in_its_order(world: World, async_client: AsyncClient) -> None:
    session = await edited(world)
    await told(session, [2, 1], [0])
    page = await shown(async_client, session, "stop=1")
    assert "Stop 1 of 2" in page
    assert page.index('data-file="b.txt"') < page.index('data-file="a.txt"')
    assert page.count('class="hunk"') == 2
    assert "twenty-nine" in page
    assert "&gt;two" not in page
    assert ">two<" not in page
    head = page.partition('data-file="a.txt"')[2].partition('class="file-body"')[0]
    assert "data-do=" not in head, "a verdict on the file would be one on what is not shown"
    assert "1 hunk that is at another stop" in page
    assert page.count("+3") == 1, "the title has the sums of all, the file those of the stop"
    last = await shown(async_client, session, "stop=9")
    assert "Stop 2 of 2" in last
    assert "twenty-nine" not in last


async def test_a_piece_of_a_stop_is_one_of_its_rows(world: World, async_client: AsyncClient) -> None:
    session = await edited(world)
    await told(session, [1])
    source = f"{base(session)}/file?path=a.txt&step=0&stop=1"
    rows = (await async_client.get(f"{source}&rows=0-100")).content.decode()
    assert len(HUNK.findall(rows)) == 1
    assert "twenty-nine" in rows
    before = (await async_client.get(f"{source}&gap=1-26&take=all")).content.decode()
    assert before == "", "the lines of the two sides do not belong together there"
    after = (await async_client.get(f"{base(session)}/file?path=a.txt&step=0&gap=6-26&take=all")).content
    assert b">15<" in after


async def test_verdicts_at_a_stop_are_on_what_it_shows(world: World, async_client: AsyncClient) -> None:
    session = await edited(world)
    await told(session, [1, 2], [0])
    dialog = (await async_client.get(f"{base(session)}/undo?scope=session&stop=1")).content.decode()
    assert "scope=session&amp;stop=1" in dialog
    await posted(
        async_client, f"{base(session)}/undo?scope=session&stop=1", listed="1", path=["a.txt", "b.txt"]
    )
    assert (world.root / "a.txt").read_text() == LINES.replace("2\n", "two\n", 1)
    assert not (world.root / "b.txt").exists()
    page = await posted(
        async_client, f"{base(session)}/undo", stop="2", path="a.txt", hunk=(await hunks_at(session, 2))[0]
    )
    assert page.count('class="hunk"') == 1
    assert (world.root / "a.txt").read_text() == LINES
    found, _ = await way(session)
    assert not found.outdated, "what is undone is one of its hunks still"


async def hunks_at(session: Session, number: int) -> list[str]:
    found, whole = await way(session)
    here = at_stop(whole, found, number)
    return [part.judged.key for part in found.stops[number - 1].parts if here.file(part.file.key)]


async def test_it_is_outdated_when_its_hunks_change(world: World, async_client: AsyncClient) -> None:
    session = await edited(world)
    await told(session, [0], [1], [2])
    await world.turn(session, {"a.txt": EDITED.replace("twenty-nine", "finis")})
    found, _ = await way(session)
    assert (found.fresh, found.gone) == (1, 1)
    page = await shown(async_client, session, "stop=2")
    assert "outdated" in page
    assert "1 hunk is new or changed. 1 hunk is gone." in page
    assert "1 hunk of this stop is not there as it was." in page
    assert "finis" not in page
    assert "finis" in await shown(async_client, session, "stop=4")


async def test_of_git_and_of_what_is_gone(world: World, async_client: AsyncClient) -> None:
    session = await edited(world)
    project = Scope("project")
    await told(session, [0, 1, 2], scope=project)
    assert "Stop 1 of 1" in await shown(async_client, session, "scope=project&stop=1")
    assert "review-tour" not in await shown(async_client, session, "scope=session&stop=1"), "it has none"
    assert 'id="tour-open" data-tour="1"' in await shown(async_client, session, "scope=project")
    empty = await world.session()
    await in_db(tours.put, empty, Scope().query(), [], ["gone"], model="demo/scripted")
    page = await shown(async_client, empty, "stop=1")
    assert "Nothing of it is there any more" in page


async def test_the_newer_takes_the_place_of_the_older(world: World) -> None:
    session = await edited(world)
    await told(session, [0])
    await told(session, [1, 2], [0])
    assert await in_db(Tour.objects.filter(session=session).count) == 1
    found, _ = await way(session)
    assert len(found.stops) == 2
