"""Collections in between leave every undo and every redo as it was."""

from __future__ import annotations

import random

import pytest

from sessions.changes.operations import hunks
from sessions.changes.operations.lock import Refused
from sessions.changes.review.verdicts import Scope, listing
from sessions.changes.snapshots.objects import ObjectMissing, object_id
from sessions.changes.upkeep import copies, damage
from sessions.changes.upkeep.caretaker import Collected, collect
from sessions.core.db import in_db
from sessions.core.ids import now
from sessions.core.models import FileChange, Operation, Project, Session
from sessions.core.store import permissions
from sessions.core.store import sessions as session_store
from tests.sessions.changes.review.world import World

FILES = ("a.txt", "sub/b.txt", "sub/deep/c.txt")
TAKEN_BACK_STATES = ("done",)


async def gather(world: World) -> Collected:
    """A collection that lets nothing pass as young."""
    return await collect(world.project, lambda: False, grace=-60)


def at_hand(world: World, oid: str) -> bool:
    try:
        return object_id(world.tracker.objects.get(oid)) == oid
    except ObjectMissing:
        return False


def addresses() -> set[str]:
    rows = FileChange.objects.values_list("before", "after")
    return {oid for row in rows for oid in row if oid}


@pytest.mark.parametrize("seed", range(6))
async def test_random_histories(world: World, seed: int) -> None:
    chance = random.Random(seed)
    sessions = [await world.session(f"session {number}") for number in range(2)]
    for step in range(14):
        await happens(world, sessions, chance, step)
        if chance.random() < 0.5:
            await gather(world)
    open_to_redo = await in_db(_operations)
    for operation in open_to_redo:
        before = world.state()
        taken = await hunks.redo(operation.session, operation.id)
        await gather(world)
        again = await hunks.redo(operation.session, taken.id)
        await gather(world)
        if not any(entry["outcome"] in ("conflict", "missing", "unsafe") for entry in taken.outcome):
            assert world.state() == before, f"{again.outcome}"
    assert all(at_hand(world, oid) for oid in await in_db(addresses))


def _operations() -> list[Operation]:
    rows = Operation.objects.filter(state__in=TAKEN_BACK_STATES).select_related("session__project")
    return list(rows.order_by("-id"))


async def happens(world: World, sessions: list[Session], chance: random.Random, step: int) -> None:
    session, path = chance.choice(sessions), chance.choice(FILES)
    file = world.root / path
    content = file.read_text() if file.exists() else ""
    lines = [*content.splitlines(), f"step {step}"]
    chance.shuffle(lines)
    match chance.choice(("agent", "agent", "person", "remove", "undo", "undo")):
        case "agent":
            await world.turn(session, {path: "\n".join(lines) + "\n"})
        case "person":
            world.write(path, f"mine {step}\n{content}")
        case "remove" if file.exists():
            await world.turn(session, {path: None})
        case "undo":
            try:
                found = await listing(session, Scope("session"))
                picks = {changed.key: None for changed in found.files if chance.random() < 0.7}
                await hunks.undo(session, Scope("session"), picks)
            except Refused:
                return


async def test_what_no_row_names_goes(world: World) -> None:
    session = await world.session()
    await world.turn(session, {"kept.txt": "of the agent\n"})
    lone = world.tracker.objects.put(b"put by nobody\n")
    done = await gather(world)
    assert (done.removed, at_hand(world, lone)) == (1, False)
    assert done.after.size <= done.before.size


async def test_deleted_sessions_keep_theirs_until_they_are_gone(world: World) -> None:
    session = await world.session()
    await world.turn(session, {"kept.txt": "of the agent\n"})
    named = await in_db(addresses)
    await in_db(session_store.delete, session.id)
    await gather(world)
    assert all(at_hand(world, oid) for oid in named)
    await in_db(session_store.restore, session.id)
    await in_db(session_store.delete, session.id)
    await in_db(session_store.purge, now() + 1)
    assert (await gather(world)).removed == len(named)
    assert not any(at_hand(world, oid) for oid in named)


async def test_staged_edits_and_open_requests_count(world: World) -> None:
    session = await world.session()
    put = world.tracker.objects.put
    staged, asked, planned = put(b"staged\n"), put(b"asked\n"), put(b"planned\n")

    def rows() -> str:
        session.staged.create(project=world.project, path="a", content=staged, time_updated=1)
        Operation.objects.create(
            id="opn_1",
            project=world.project,
            session=session,
            kind="undo",
            state="done",
            outcome=[{"path": "a", "content": planned}],
            time_created=1,
        )
        request = session.permissions.create(
            id="per_1", permission="edit", patterns=[], metadata={"files": [{"after": asked}]}, time_created=1
        )
        return request.id

    request_id = await in_db(rows)
    await gather(world)
    assert all(at_hand(world, oid) for oid in (staged, asked, planned))
    await in_db(permissions.cancel, session.id)
    await in_db(lambda: session.staged.all().delete())
    await gather(world)
    assert [at_hand(world, oid) for oid in (staged, asked, planned)] == [False, False, True]
    assert request_id == "per_1"


async def test_worktrees_of_a_project_share_their_names(world: World) -> None:
    session = await world.session()
    oid = world.tracker.objects.put(b"in the project it was forked from\n")

    def fork() -> None:
        other = Project.objects.create(
            id="fork", worktree="/nowhere", worktree_of=world.project, time_created=1, time_updated=1
        )
        FileChange.objects.create(project=other, session=session, path="a", after=oid, time_created=1)

    await in_db(fork)
    await gather(world)
    assert at_hand(world, oid)


@pytest.mark.sqlite
async def test_nothing_goes_while_a_damaged_database_lies_there(world: World) -> None:
    oid = world.tracker.objects.put(b"named by the damaged one alone\n")
    file = copies.database()
    assert file
    damaged = damage.aside(file, "20260101T000000Z")
    damaged.write_bytes(b"damaged")
    try:
        assert (await gather(world)).removed == 0
        assert at_hand(world, oid)
    finally:
        await in_db(damage.forget)
    assert not damaged.exists()
    assert (await gather(world)).removed == 1
    assert not at_hand(world, oid)
