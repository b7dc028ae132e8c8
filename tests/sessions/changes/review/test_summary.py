"""What a turn and a session changed, kept in the rows and told by events."""

from __future__ import annotations

from pytest_django import DjangoAssertNumQueries

from sessions.changes.review.filediffs import ALL_PATCHES, PATCH_LIMIT, refresh
from sessions.core.db import in_db, in_db_sync
from sessions.core.models import Event, Message
from tests.sessions.changes.review.world import World, fresh


async def _told(since: int) -> list[str]:
    return await in_db(lambda: list(Event.objects.filter(id__gt=since).values_list("type", flat=True)))


async def _latest() -> int:
    return await in_db(lambda: Event.objects.order_by("-id").values_list("id", flat=True)[0])


async def test_a_turn_is_summed_up_once(world: World) -> None:
    session = await world.session()
    first = await world.turn(session, {"kept.txt": "one\n2\nthree\n", "a.txt": "a\nb\n"})
    second = await world.turn(session, {"a.txt": "a\n"})
    since = await _latest()
    await in_db(refresh, session, first)
    assert await _told(since) == ["message.updated", "session.updated", "session.diff"]
    diffs = (await in_db(Message.objects.get, id=first)).data["summary"]["diffs"]
    assert [(diff["file"], diff["status"], diff["additions"], diff["deletions"]) for diff in diffs] == [
        ("a.txt", "added", 2, 0),
        ("kept.txt", "modified", 1, 1),
    ]
    assert diffs[1]["patch"].endswith("@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n")
    assert (await fresh(session)).summary == {"additions": 2, "deletions": 1, "files": 2}

    since = await _latest()
    await in_db(refresh, session, first)
    assert await _told(since) == []
    await in_db(refresh, session, second)
    assert (await in_db(Message.objects.get, id=second)).data["summary"]["diffs"][0]["deletions"] == 1


async def test_without_changes_one_query(
    world: World, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    session = await world.session()
    prompt = await world.turn(session)

    def counted() -> None:
        with django_assert_num_queries(1):
            refresh(session, prompt)

    in_db_sync(counted)
    assert "summary" not in (await in_db(Message.objects.get, id=prompt)).data


async def test_all_patches_together_are_bounded(world: World) -> None:
    session = await world.session()
    many = {f"{n}.txt": f"{n}{'x' * 60}\n" * 900 for n in range(30)}
    prompt = await world.turn(session, many | {"small.txt": "s\n"})
    await in_db(refresh, session, prompt)
    diffs = (await in_db(Message.objects.get, id=prompt)).data["summary"]["diffs"]
    assert sum(len(diff["patch"]) for diff in diffs) < ALL_PATCHES + 30 * 100
    assert sum("left out" in diff["patch"] for diff in diffs) > 5
    assert all(diff["additions"] == 900 for diff in diffs if diff["file"] != "small.txt")
    assert next(diff for diff in diffs if diff["file"] == "small.txt")["patch"].endswith("+s\n")


async def test_patches_are_bounded_and_hostile_contents_survive(world: World) -> None:
    session = await world.session()
    prompt = await world.turn(
        session,
        {"big.txt": "x" * 70 + "\n" * 40_000, "binary": b"\0\1\2", "latin.txt": "é\n".encode("latin-1")},
    )
    await in_db(refresh, session, prompt)
    diffs = (await in_db(Message.objects.get, id=prompt)).data["summary"]["diffs"]
    patches = {diff["file"]: diff["patch"] for diff in diffs}
    assert len(patches["big.txt"]) < PATCH_LIMIT + 100
    assert patches["big.txt"].endswith("more lines of this patch are not shown\n")
    assert next(diff for diff in diffs if diff["file"] == "big.txt")["additions"] == 40_000
    assert patches["binary"] == "Binary files a/binary and b/binary differ\n"
    assert "+\N{REPLACEMENT CHARACTER}" in patches["latin.txt"]
