"""The files at any point of a session, as the ledger knows them; the disk is not touched."""

from __future__ import annotations

from sessions.changes.history.scrubbing import Point, point
from sessions.changes.operations import conversation
from sessions.core.db import in_db
from sessions.core.models import FileChange, Session
from tests.sessions.changes.review.world import World, fresh


async def points(session: Session) -> list[Point]:
    """The files after each entry of the ledger, the first before any."""
    ids = await in_db(lambda: list(FileChange.objects.order_by("id").values_list("id", flat=True)))
    return [await point(session, change) for change in (0, *ids)]


def seen(at: Point) -> list[tuple[str, str, int, int]]:
    return [(file.name, file.letter, file.additions, file.deletions) for file in at.files]


async def test_each_point_has_the_net_of_all_before(world: World) -> None:
    session = await world.session()
    await world.turn(session, {"kept.txt": "ONE\ntwo\nthree\n"})
    await world.turn(session, {"new.txt": "made\n"})
    await world.turn(session, {"kept.txt": "ONE\ntwo\nTHREE\n", "new.txt": None})
    before = world.state()
    at = await points(session)
    assert [seen(one) for one in at] == [
        [],
        [("kept.txt", "M", 1, 1)],
        [("kept.txt", "M", 1, 1), ("new.txt", "A", 1, 0)],
        [("kept.txt", "M", 2, 2), ("new.txt", "A", 1, 0)],
        [("kept.txt", "M", 2, 2)],
    ]
    assert at[0].moment is None
    assert [file.newest for file in at[3].files] == [True, False]
    assert world.state() == before


async def test_an_undo_and_its_redo_are_points_too(world: World) -> None:
    session = await world.session()
    first = await world.turn(session, {"kept.txt": "ONE\ntwo\nthree\n"})
    await conversation.revert(session, first)
    await conversation.unrevert(await fresh(session))
    assert [seen(at) for at in await points(session)] == [
        [],
        [("kept.txt", "M", 1, 1)],
        [],
        [("kept.txt", "M", 1, 1)],
    ]


async def test_the_lines_of_others_are_on_neither_side(world: World) -> None:
    session, other = await world.session(), await world.session()
    first = await world.turn(session, {"kept.txt": "ONE\ntwo\nthree\n"})
    await world.turn(other, {"kept.txt": "ONE\ntwo\nthree\nfour\n"})
    await conversation.revert(session, first)
    at = await points(session)
    assert seen(at[1]) == [("kept.txt", "M", 1, 1)]
    assert seen(at[-1]) == []
    assert seen((await points(other))[2]) == [("kept.txt", "M", 1, 0)]


async def test_an_entry_of_another_session_is_no_point_of_this_one(world: World) -> None:
    session, other = await world.session(), await world.session()
    await world.turn(other, {"kept.txt": "x\n"})
    at = (await points(session))[-1]
    assert (at.moment, seen(at)) == (None, [])
