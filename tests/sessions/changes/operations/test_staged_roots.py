"""Review mode over a project and a folder beside it: each edit waits in its root, one verdict is on both."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from sessions.changes.operations import engine
from sessions.changes.operations import staged as staged_operations
from sessions.changes.operations.hunks import undo
from sessions.changes.operations.lock import ProjectBusy, Refused, project_lock
from sessions.changes.operations.staged import drop, keep, resolve, take_back
from sessions.changes.review.staged import listed, seals
from sessions.changes.review.staged import waiting as waiting_rows
from sessions.changes.review.verdicts import Scope, listing
from sessions.changes.snapshots.objects import object_id
from sessions.changes.undo.apply import apply
from sessions.changes.undo.files import read_file
from sessions.changes.upkeep.caretaker import named
from sessions.changes.worktrees import moving
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from sessions.core.store import forks, operations
from tests.sessions.changes.operations.stage import in_root, keys, staged, waiting
from tests.sessions.changes.operations.test_roots import states
from tests.sessions.changes.operations.test_staged import EDITED, FAR
from tests.sessions.changes.review.world import World


async def both(world: World, library: World, session: Session, path: str = "kept.txt") -> str:
    """The same path waits in both; that of the library as the session sees it."""
    await staged(world, session, path, "mine\n")
    await staged(library, session, path, "theirs\n")
    return str(library.root / path)


async def test_they_are_kept_where_they_lie_and_taken_back(world: World, library: World) -> None:
    session, before = await world.session(), states(world, library)
    beside = await both(world, library, session)
    await staged(library, session, "new/file.txt", "made\n")
    assert states(world, library) == before
    found = await listing(session, Scope("staged"))
    made = str(library.root / "new/file.txt")
    assert [file.key for file in found.files] == ["kept.txt", beside, made]
    rows, roots = await in_db(waiting_rows, session)
    assert [(file.name, file.title, file.status) for file in listed(rows, roots)] == [
        ("kept.txt", "kept.txt", "modified"),
        ("library/kept.txt", beside, "modified"),
        ("library/new/file.txt", made, "added"),
    ]

    kept = await keep(session, None, drawn=seals(rows, roots).split())
    assert {entry["path"]: entry["outcome"] for entry in kept.outcome} == {
        "kept.txt": "restore",
        beside: "restore",
        made: "restore",
    }
    assert (world.root / "kept.txt").read_text() == "mine\n"
    assert (library.root / "kept.txt").read_text() == "theirs\n"
    assert (library.root / "new/file.txt").read_text() == "made\n"
    changes = await in_db(operations.changes_of, [kept])
    assert {(change.project_id, change.path) for change in changes} == {
        (world.project.id, "kept.txt"),
        (library.project.id, "kept.txt"),
        (library.project.id, "new/file.txt"),
    }
    assert await waiting(library, session) == {}

    back = await take_back(session, kept.id)
    assert states(world, library) == before
    assert await waiting(world, session) == {"kept.txt": b"mine\n"}
    assert await waiting(library, session) == {"kept.txt": b"theirs\n", "new/file.txt": b"made\n"}
    await take_back(session, back.id)
    assert (library.root / "kept.txt").read_text() == "theirs\n"
    await undo(session, Scope(), {beside: None})
    assert (library.root / "kept.txt").read_text() == "the library's\n"
    assert (world.root / "kept.txt").read_text() == "mine\n"


async def test_what_is_dropped_waits_again_and_nothing_of_it_is_collected(
    world: World, library: World
) -> None:
    session, before = await world.session(), states(world, library)
    beside = await both(world, library, session)
    dropped = await drop(session, {beside: None})
    assert await waiting(world, session) == {"kept.txt": b"mine\n"}
    assert await waiting(library, session) == {}
    assert object_id(b"theirs\n") in await in_db(named, library.project.id)
    back = await take_back(session, dropped.id)
    assert await waiting(library, session) == {"kept.txt": b"theirs\n"}
    await take_back(session, back.id)
    assert await waiting(library, session) == {}
    assert states(world, library) == before


async def test_a_hunk_is_kept_in_one_of_them(world: World, library: World) -> None:
    session = await world.session()
    for place in (world, library):
        place.write("far.txt", FAR)
        await staged(place, session, "far.txt", EDITED)
    beside = str(library.root / "far.txt")
    first, second = await keys(library, session, "far.txt")
    await keep(session, {beside: [first]})
    assert (library.root / "far.txt").read_text() == FAR.replace("5\n", "five\n", 1)
    assert (world.root / "far.txt").read_text() == FAR
    await drop(session, {beside: [second]})
    assert await waiting(library, session) == {}
    assert list(await waiting(world, session)) == ["far.txt"]


async def test_a_conflict_in_one_of_them_waits_and_is_settled(world: World, library: World) -> None:
    session = await world.session()
    beside = await both(world, library, session)
    library.write("kept.txt", "a person's\n")
    kept = await keep(session, None)
    assert {entry["path"]: entry["outcome"] for entry in kept.outcome} == {
        "kept.txt": "restore",
        beside: "conflict",
    }
    assert await waiting(library, session) == {"kept.txt": b"theirs\n"}
    with pytest.raises(Refused, match=beside):
        await keep(session, {beside: None})
    now = read_file(library.root, "kept.txt")
    assert now is not None
    await resolve(session, {beside: None}, b"of both\n", object_id(now.content))
    assert (library.root / "kept.txt").read_text() == "of both\n"
    assert await waiting(library, session) == {}


async def test_a_file_that_was_moved_is_one_in_its_root_only(world: World, library: World) -> None:
    session = await world.session()
    await staged(library, session, "kept.txt", None)
    await staged(library, session, "moved.txt", "the library's\n")
    await staged(world, session, "copied.txt", "the library's\n")
    found = (await listing(session, Scope("staged"))).files
    moved = str(library.root / "moved.txt")
    assert [(file.key, file.status) for file in found] == [("copied.txt", "added"), (moved, "renamed")]
    await keep(session, {moved: None})
    assert not (library.root / "kept.txt").exists()
    assert (library.root / "moved.txt").read_text() == "the library's\n"
    assert not (world.root / "copied.txt").exists()


@pytest.mark.parametrize("conflict", [True, False])
@pytest.mark.parametrize("written", [0, 1])
async def test_a_crash_between_roots(
    world: World, library: World, conflict: bool, written: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await world.session()
    await both(world, library, session)
    if conflict:
        library.write("kept.txt", "a person's\n")
    applied = 0

    def dies(*given: object, **named: object) -> object:
        nonlocal applied
        if applied == written:
            raise KeyboardInterrupt
        applied += 1
        return apply(*given, **named)  # type: ignore[arg-type]

    def dies_late(*given: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "apply", dies)
    monkeypatch.setattr(operations, "_settle_staged", dies_late)
    with pytest.raises(KeyboardInterrupt):
        await asyncio.to_thread(_keep_all, session, {world.project.id, library.project.id})
    monkeypatch.undo()

    await engine.recover()
    assert await in_db(lambda: Operation.objects.get(session=session).state) == "done"
    assert (world.root / "kept.txt").read_text() == "mine\n"
    assert (library.root / "kept.txt").read_text() == ("a person's\n" if conflict else "theirs\n")
    assert await waiting(world, session) == {}
    assert list(await waiting(library, session)) == (["kept.txt"] if conflict else [])


def _keep_all(session: Session, locked: set[str]) -> None:
    def everything(rows, roots):  # type: ignore[no-untyped-def]
        picks = staged_operations.everything(rows, roots, guarded=True)
        return staged_operations._keeping(rows, picks, roots, None)

    staged_operations._keep(session, locked, everything, "", "")


async def test_both_roots_are_locked(world: World, library: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessions.changes.operations.lock._VERDICT_TRIES", 1)
    session = await world.session()
    await both(world, library, session)
    with project_lock(library.project.id), pytest.raises(ProjectBusy):
        await keep(session, None)
    assert (world.root / "kept.txt").read_text() == "one\ntwo\nthree\n"


async def test_a_fork_has_it_in_the_same_root(world: World, library: World) -> None:
    session = await world.session()
    await both(world, library, session)
    copy = await in_db(forks.fork, session, "")
    assert [row.content for row in await in_root(library, copy)] == [object_id(b"theirs\n")]
    await keep(copy, None)
    assert (library.root / "kept.txt").read_text() == "theirs\n"
    assert await waiting(library, session) == {"kept.txt": b"theirs\n"}


async def test_moved_to_a_worktree_a_session_takes_along_what_is_of_its_project(
    world: World, library: World
) -> None:
    session = await world.session()
    await both(world, library, session)
    moved = (await moving.move(session)).session
    assert (await in_root(library, moved))[0].path == "kept.txt"
    dropped = await drop(moved, None)
    await take_back(moved, dropped.id)
    await keep(moved, None)
    assert (Path(moved.directory) / "kept.txt").read_text() == "mine\n"
    assert (world.root / "kept.txt").read_text() == "one\ntwo\nthree\n"
    assert (library.root / "kept.txt").read_text() == "theirs\n"
