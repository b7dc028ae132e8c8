"""Undo and redo of a session that changed files of its project and of folders beside it: one operation, each
file in its root, and nothing of either is lost."""

from __future__ import annotations

import asyncio
import random
from typing import Literal

import pytest

from sessions.changes.history.timeline import timeline
from sessions.changes.operations import conversation, engine, hunks
from sessions.changes.operations.conversation import Choice, preview, revert, undo_from, unrevert
from sessions.changes.operations.lock import ProjectBusy, project_lock
from sessions.changes.review.filediffs import session_diff
from sessions.changes.review.verdicts import Scope, listing
from sessions.changes.undo.apply import apply
from sessions.core.db import in_db
from sessions.core.ids import ascending
from sessions.core.models import Operation, Session
from sessions.core.store import added_folders, forks, moves
from tests.sessions.changes.review.world import World, fresh
from tests.sessions.changes.worktrees.conftest import git

NAMES = ("kept.txt", "same.txt", "in/deep.txt", "in/other.txt", "odd \udcff.txt")
State = dict[str, tuple[int, bytes]]


def states(*worlds: World) -> list[State]:
    """The files of each root."""
    return [
        {path: found for path, found in world.state().items() if not (world.root / path).is_dir()}
        for world in worlds
    ]


async def edited(session: Session, edits: list[tuple[World, str, str | None]], prompt: World) -> str:
    """A prompt, whose answer writes files of several roots in turn."""
    message = await prompt.turn(session)
    answer = ascending("msg")
    for world, path, content in edits:
        await world.edit(session, answer, path, content)
    return message


def drawn(random: random.Random, *worlds: World) -> list[tuple[World, str, str | None]]:
    """Edits that make, change and remove files, as it comes."""
    there = {(world.root, name): (world.root / name).exists() for world in worlds for name in NAMES}
    made: list[tuple[World, str, str | None]] = []
    for number in range(random.randint(1, 8)):
        world, name = random.choice(worlds), random.choice(NAMES)
        gone = there[world.root, name] and random.random() < 0.3
        made.append((world, name, None if gone else f"{number} of {random.random()}\n" * 3))
        there[world.root, name] = not gone
    return made


async def test_undo_and_redo_in_both_roots(world: World, library: World) -> None:
    before = states(world, library)
    session = await world.session()
    prompt = await edited(session, [(world, "kept.txt", "a\n"), (library, "kept.txt", "b\n")], world)
    after = states(world, library)
    beside = str(library.root / "kept.txt")

    assert [diff.file for diff in await session_diff(session)] == ["kept.txt", beside]
    assert [file.path for file in (await preview(session, prompt)).files] == ["kept.txt", beside]
    session = await revert(session, prompt)
    assert states(world, library) == before
    assert session.revert is not None
    assert f"a/{beside}" in session.revert["diff"]
    assert await session_diff(session) == []

    session = await unrevert(session)
    assert states(world, library) == after
    assert session.summary["files"] == 2


@pytest.mark.parametrize("seed", range(8))
async def test_whatever_was_edited(world: World, library: World, seed: int) -> None:
    choice = random.Random(seed)
    session = await world.session()
    seen, prompts = [states(world, library)], []
    for _ in range(3):
        prompts.append(await edited(session, drawn(choice, world, library), world))
        seen.append(states(world, library))
    for _ in range(4):
        back = choice.randrange(3)
        session = await revert(session, prompts[back])
        assert states(world, library) == seen[back]
        if choice.random() < 0.5:
            session = await unrevert(session)
            assert states(world, library) == seen[-1]


@pytest.mark.parametrize("stage", ["before", "between", "after"])
async def test_a_crash_between_roots(
    world: World, library: World, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = states(world, library)
    session = await world.session()
    edits: list[tuple[World, str, str | None]] = [
        (place, name, "agent\n") for place in (world, library) for name in NAMES
    ]
    prompt = await edited(session, edits, world)
    after = states(world, library)
    due = {"before": 0, "between": 1, "after": 2}[stage]
    applied = 0

    def dies(*given: object, **named: object) -> object:
        nonlocal applied
        if applied == due:
            raise KeyboardInterrupt
        applied += 1
        return apply(*given, **named)  # type: ignore[arg-type]

    def dies_late(*given: object) -> object:
        raise KeyboardInterrupt

    if stage == "after":
        monkeypatch.setattr(engine, "_counting", dies_late)
    monkeypatch.setattr(engine, "apply", dies)
    with pytest.raises(KeyboardInterrupt):
        await asyncio.to_thread(_carry_out, session, prompt)
    monkeypatch.undo()

    await engine.recover()
    state = await in_db(lambda: Operation.objects.get(session=session).state)
    assert state == ("withdrawn" if stage == "before" else "done")
    assert states(world, library) == (after if stage == "before" else before)
    session = await unrevert(await fresh(session))
    assert states(world, library) == after


def _carry_out(session: Session, prompt: str) -> None:
    conversation._revert(session, prompt, None, Choice(), "")


async def test_files_are_chosen_by_root(world: World, library: World) -> None:
    session = await world.session()
    prompt = await edited(session, [(world, "kept.txt", "a\n"), (library, "kept.txt", "b\n")], world)
    await undo_from(session, prompt, None, Choice("both", frozenset({"kept.txt"})))
    assert (world.root / "kept.txt").read_text() == "one\ntwo\nthree\n"
    assert (library.root / "kept.txt").read_text() == "b\n"
    assert [diff.file for diff in await session_diff(session)] == [str(library.root / "kept.txt")]


async def test_the_review_takes_back_a_hunk_beside_the_project(world: World, library: World) -> None:
    session = await world.session()
    await edited(session, [(world, "kept.txt", "a\n"), (library, "kept.txt", "b\n")], world)
    beside = str(library.root / "kept.txt")
    found = await listing(session, Scope())
    assert [(file.key, file.state) for file in found.files] == [("kept.txt", "here"), (beside, "here")]

    done = await hunks.undo(session, Scope(), {beside: None})
    assert (library.root / "kept.txt").read_text() == "the library's\n"
    assert (world.root / "kept.txt").read_text() == "a\n"
    found = await listing(session, Scope())
    assert [file.state for file in found.files] == ["here", "gone"]
    await hunks.redo(session, done.id)
    assert (library.root / "kept.txt").read_text() == "b\n"

    own = await library.session("of the library")
    assert [file.key for file in (await listing(own, Scope("project"))).files] == ["kept.txt"]
    await hunks.undo(own, Scope("project"), {"kept.txt": None})
    assert (library.root / "kept.txt").read_text() == "the library's\n"


async def test_both_roots_are_locked(world: World, library: World) -> None:
    session = await world.session()
    prompt = await edited(session, [(library, "kept.txt", "b\n")], world)
    with project_lock(library.project.id), pytest.raises(ProjectBusy):
        await revert(session, prompt)
    assert (library.root / "kept.txt").read_text() == "b\n"


async def test_forks_and_moves_take_the_projects_own(world: World, library: World) -> None:
    session = await world.session()
    prompt = await edited(session, [(world, "kept.txt", "a\n"), (library, "other.txt", "b\n")], world)
    assert [row.path for row in await in_db(forks.changes_since, session.id, prompt)] == ["kept.txt"]
    assert await in_db(moves.paths, [session]) == {"kept.txt"}
    found = await in_db(timeline, session)
    names = [file.path for moment in found.moments for file in moment.files]
    assert names == ["kept.txt", str(library.root / "other.txt")]


async def allowed(session: Session, library: World, *, write: bool) -> Session:
    added: Session | None = await in_db(lambda: added_folders.add(session, library.root, write=write))
    assert added is not None
    return added


async def test_the_project_and_its_working_tree_are_shown_with_the_folders_that_may_be_written(
    world: World, library: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.changes.operations.lock._VERDICT_TRIES", 1)
    session = await world.session()
    await library.turn(await library.session("of the library"), {"made.txt": "theirs\n"})
    await world.turn(session, {"kept.txt": "a\n"})
    made = str(library.root / "made.txt")

    async def keys(kind: Literal["project", "git"]) -> list[str]:
        return [file.key for file in (await listing(session, Scope(kind))).files]

    assert await keys("project") == await keys("git") == ["kept.txt"]
    session = await allowed(session, library, write=True)
    assert await keys("project") == ["kept.txt", made]
    found = await listing(session, Scope("git"))
    assert [file.key for file in found.files] == ["kept.txt"]
    assert found.problem == "library: This folder has no git commit to compare with."

    for arguments in (["init", "-q"], ["add", "kept.txt"], ["commit", "-qm", "first"]):
        git(library.root, *arguments)
    library.write("kept.txt", "a person's\n")
    beside = str(library.root / "kept.txt")
    assert await keys("git") == ["kept.txt", beside, made]
    done = await hunks.undo(session, Scope("git"), {beside: None, "kept.txt": None})
    assert (library.root / "kept.txt").read_text() == "the library's\n"
    assert (world.root / "kept.txt").read_text() == "one\ntwo\nthree\n"
    await hunks.redo(session, done.id)
    assert (library.root / "kept.txt").read_text() == "a person's\n"
    with project_lock(library.project.id), pytest.raises(ProjectBusy):
        await hunks.undo(session, Scope("project"), {made: None})
    await hunks.undo(session, Scope("project"), {made: None})
    assert not (library.root / "made.txt").exists()

    session = await allowed(session, library, write=False)
    assert await keys("git") == ["kept.txt"]
