"""Verdicts and marks as a browser gives them: what is written, what is answered, what is refused."""

from __future__ import annotations

import re

import pytest
from django.test import AsyncClient

from sessions.changes.review.conflicts import by_hand
from sessions.changes.review.marking import hunk_mark, toggled
from sessions.changes.review.verdicts import Scope, judge, listing
from sessions.changes.undo.merge import Conflict
from sessions.core.db import in_db
from sessions.core.models import FileChange, Session
from sessions.core.store import marks
from tests.sessions.changes.review.world import World

LINES = "".join(f"{number}\n" for number in range(1, 31))
EDITED = LINES.replace("2\n", "two\n", 1).replace("29\n", "twenty-nine\n")


def base(session: Session) -> str:
    return f"/p/{session.project_id}/s/{session.id}/review"


async def edited(world: World) -> Session:
    world.write("a.txt", LINES)
    session = await world.session()
    await world.turn(session, {"a.txt": EDITED, "b.txt": "b\n"})
    return session


async def hunks(session: Session, path: str = "a.txt") -> list[str]:
    found = await listing(session, Scope())
    file = found.file(path)
    assert file is not None
    return [one.key for step in judge(file, found) for one in step.hunks.values()]


async def posted(client: AsyncClient, url: str, **data: object) -> str:
    answer = await client.post(url, data)
    assert answer.status_code == 200
    return str(answer.content.decode())


async def test_a_kept_hunk_is_marked_by_its_content(world: World, async_client: AsyncClient) -> None:
    session = await edited(world)
    first, second = await hunks(session)
    page = await posted(async_client, f"{base(session)}/keep", on="1", path="a.txt", hunk=first)
    assert page.count('data-state="kept"') == 1
    assert 'data-file="b.txt"' not in page, "only the file it was given on is answered"
    page = await posted(async_client, f"{base(session)}/keep", on="1", path="a.txt", hunk=second)
    assert '<span class="file-tag" data-state="kept">Kept</span>' in page, "all of its hunks are"
    await world.turn(session, {"a.txt": EDITED.replace("15\n", "fifteen\n")})
    page = await posted(async_client, f"{base(session)}/view", on="1", path="b.txt")
    found = await listing(session, Scope())
    file = found.file("a.txt")
    assert file is not None
    kept = (await in_db(marks.of_session, session.id, "")).kept
    states = [hunk_mark(file, pick) in kept for pick in await hunks(session)]
    assert states == [True, False, True], "what is new is not kept"


async def test_a_mark_on_a_file_is_one_on_each_hunk(world: World) -> None:
    session = await edited(world)
    found = await listing(session, Scope())
    file = found.files[0]
    steps = judge(file, found)
    first, second = await hunks(session)
    add, _ = toggled(file, steps, None, True, frozenset())
    assert len(add) == 3
    _, remove = toggled(file, steps, first, False, frozenset(add))
    assert hunk_mark(file, second) not in remove
    assert len(remove) == 2, "the hunk's, and the file's"
    unknown, _ = toggled(file, steps, "no such hunk", True, frozenset())
    assert unknown == set()


async def test_all_but_what_is_kept_is_undone(world: World, async_client: AsyncClient) -> None:
    session = await edited(world)
    first, _ = await hunks(session)
    await posted(async_client, f"{base(session)}/keep", on="1", path="a.txt", hunk=first)
    before = world.state()
    dialog = (await async_client.get(f"{base(session)}/undo?scope=session")).content.decode()
    assert world.state() == before
    assert dialog.count('name="path"') == 2
    page = await posted(
        async_client, f"{base(session)}/undo", listed="1", path=["a.txt", "b.txt"], words="No. "
    )
    assert "Undone: 2 files changed" in page
    assert (world.root / "a.txt").read_text() == LINES.replace("2\n", "two\n", 1)
    assert not (world.root / "b.txt").exists()
    (operation,) = re.findall(r'"operation": "(\w+)"', page)
    again = await posted(async_client, f"{base(session)}/redo", operation=operation)
    assert "Redone: 2 files changed" in again
    assert world.state() == before


async def test_a_choice_on_a_file_that_has_changed_is_refused(
    world: World, async_client: AsyncClient
) -> None:
    session = await edited(world)
    world.write("a.txt", EDITED.replace("two", "mine"))
    first, _ = await hunks(session)
    page = await posted(async_client, f"{base(session)}/undo", path="a.txt", hunk=first)
    assert 'data-outcome="conflict"' in page
    (seen,) = re.findall(r'name="seen" value="(\w+)"', page)
    choice = {"path": "a.txt", "hunk": first, "seen": seen, "choice-0": "other"}
    world.write("a.txt", EDITED.replace("two", "newer"))
    refused = await async_client.post(f"{base(session)}/resolve", choice)
    assert refused.status_code == 422
    assert "has been changed since" in refused.content.decode()
    assert "newer" in (world.root / "a.txt").read_text()
    world.write("a.txt", EDITED.replace("two", "mine"))
    page = await posted(async_client, f"{base(session)}/resolve", **choice)
    assert (world.root / "a.txt").read_text() == LINES.replace("29\n", "twenty-nine\n")
    assert await in_db(FileChange.objects.filter(operation__isnull=False).count) == 1


@pytest.mark.parametrize(
    ("text", "current", "written"),
    [
        ("one\ntwo", b"was\n", b"one\ntwo\n"),
        ("one\r\ntwo\r\n", b"was\r\n", b"one\r\ntwo\r\n"),
        ("one", b"was", b"one"),
        ("", b"was\n", b""),
    ],
)
def test_what_is_written_by_hand_has_the_ends_of_the_file(text: str, current: bytes, written: bytes) -> None:
    assert by_hand(text, Conflict(1, current, b"", b"")) == written


async def test_what_nobody_offered_is_refused(world: World, async_client: AsyncClient) -> None:
    session = await edited(world)
    before = world.state()
    for url, data in (
        ("undo", {"path": "../etc/passwd"}),
        ("undo", {}),
        ("redo", {"path": "a.txt"}),
        ("resolve", {"path": "a.txt", "hunk": "none", "seen": "", "choice-0": "other"}),
        ("resolve", {"path": "nothing.txt"}),
    ):
        assert (await async_client.post(f"{base(session)}/{url}", data)).status_code == 422, url
    unknown = {"path": "a.txt", "operation": "opn_none"}
    assert (await async_client.post(f"{base(session)}/redo", unknown)).status_code == 404
    for url in ("keep", "view", "redo", "resolve"):
        assert (await async_client.get(f"{base(session)}/{url}")).status_code == 405
    assert world.state() == before


async def lines(
    client: AsyncClient, session: Session, path: str = "a.txt"
) -> list[tuple[int, int, str, bool]]:
    answer = await client.get(f"{base(session)}/lines", {"path": path})
    told = answer.json()["stretches"]
    return [(one["line"], one["count"], one["removed"], one["kept"]) for one in told]


async def test_changed_lines_are_told_where_they_stand_now(world: World, async_client: AsyncClient) -> None:
    session = await edited(world)
    assert await lines(async_client, session) == [(2, 1, "2\n", False), (29, 1, "29\n", False)]
    assert await lines(async_client, session, "b.txt") == [(1, 1, "", False)]
    assert await lines(async_client, session, "none.txt") == []

    first, second = await hunks(session)
    await posted(async_client, f"{base(session)}/keep", on="1", path="a.txt", hunk=second)
    world.write("a.txt", "zero\nhalf\n" + EDITED.replace("15\n", ""))
    assert await lines(async_client, session) == [(4, 1, "2\n", False), (30, 1, "29\n", True)]
    world.write("a.txt", EDITED.replace("two\n", "TWO\n"))
    assert await lines(async_client, session) == [(29, 1, "29\n", True)], "what a person changed is theirs"

    world.write("a.txt", EDITED)
    note = await posted(async_client, f"{base(session)}/undo", path="a.txt", hunk=first, noted="1")
    assert 'class="toast"' in note
    assert "Redo" in note
    assert "data-file" not in note
    assert await lines(async_client, session) == [(29, 1, "29\n", True)]
    note = await posted(async_client, f"{base(session)}/undo", path="gone.txt", hunk=first, noted="1")
    assert "no longer among the changes" in note
    assert "Redo" not in note


async def test_lines_that_were_only_removed_are_told_before_the_next(
    world: World, async_client: AsyncClient
) -> None:
    world.write("a.txt", LINES)
    session = await world.session()
    await world.turn(session, {"a.txt": LINES.replace("10\n11\n", "")})
    assert await lines(async_client, session) == [(10, 0, "10\n11\n", False)]


async def test_the_rest_of_what_a_person_changed_is_still_marked(
    world: World, async_client: AsyncClient
) -> None:
    world.write("a.txt", LINES)
    session = await world.session()
    await world.turn(session, {"a.txt": LINES.replace("10\n", "a\nb\nc\nd\n"), "new.txt": "a\nb\nc\n"})
    world.write("a.txt", LINES.replace("10\n", "a\nB\nc\nmine\nd\n"))
    world.write("new.txt", "a\nb\nmine\nc\n")
    told = [(10, 1, "10\n", False), (12, 1, "10\n", False), (14, 1, "10\n", False)]
    assert await lines(async_client, session) == told
    assert await lines(async_client, session, "new.txt") == [(1, 2, "", False), (4, 1, "", False)]
    world.write("new.txt", "b\n")
    assert await lines(async_client, session, "new.txt") == [(1, 1, "", False)]
    world.write("new.txt", "mine\n")
    assert await lines(async_client, session, "new.txt") == []
