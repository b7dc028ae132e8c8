"""What sessions changed in worktrees is merged into the project: all of it, files, or hunks of several."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from sessions.changes.diffs.hunks import pieces
from sessions.changes.diffs.lines import split_lines
from sessions.changes.history.log import Asked, operation_context, operation_entry, page
from sessions.changes.operations.hunks import redo
from sessions.changes.operations.taking import Wanted, preview, take
from sessions.core.db import in_db
from sessions.core.models import Operation, Session
from tests.sessions.changes.review.world import World

LINES = [f"line {number}\n" for number in range(1, 31)]
TEXT = "".join(LINES)


def lines(changes: Mapping[int, str], removed: int = 0) -> str:
    """The text with some lines, by number, as others, and without one."""
    made = [f"{changes[at]}\n" if at in changes else line for at, line in enumerate(LINES, 1)]
    return "".join(line for at, line in enumerate(made, 1) if at != removed)


def keys(after: str) -> list[str]:
    """Of the hunks from the text to another one."""
    return [piece.key for piece in pieces(*(split_lines(text.encode()) for text in (TEXT, after)))]


@pytest.fixture
def filled(world: World) -> World:
    """The project, with a file that all attempts change."""
    world.write("text.txt", TEXT)
    world.write("run.sh", "#!/bin/sh\n", 0o755)
    return world


async def tried(world: World, name: str, edits: Mapping[str, str | bytes | None]) -> Session:
    """A session that has changed files in a folder of its own, which began as the project."""
    folder = world.root.parent / name
    folder.mkdir()
    other = await World.open(folder)
    for path in world.state():
        if (world.root / path).is_file():
            other.write(path, (world.root / path).read_text(), (world.root / path).stat().st_mode & 0o777)
    session = await other.session(name)
    await other.turn(session, edits)
    return await in_db(lambda: Session.objects.select_related("project").get(id=session.id))


async def test_all_of_one_is_taken_and_the_log_takes_it_back(filled: World) -> None:
    edits = {"text.txt": lines({3: "three"}), "new/file.txt": "new\n", "kept.txt": None}
    session = await tried(filled, "one", edits)
    filled.write("mine.txt", "mine\n")
    before = filled.state()
    plans = await preview(filled.project, [Wanted(session)])
    assert {plan.path: plan.outcome for plan in plans} == dict.fromkeys(edits, "restore")
    assert filled.state() == before
    operation, _ = await take(filled.project, [Wanted(session)], name="1", actor="me")
    assert operation is not None
    assert (filled.root / "text.txt").read_text() == lines({3: "three"})
    assert (filled.root / "new/file.txt").read_text() == "new\n"
    assert not (filled.root / "kept.txt").exists()
    [found] = (await in_db(page, filled.project, Asked(kind="hand"))).entries
    assert isinstance(found, Operation)
    entry = operation_entry(found, await in_db(operation_context, found, "me"))
    assert (entry.title, entry.button) == ("Taken from a worktree: 1", "Undo")
    session = await in_db(lambda: Session.objects.select_related("project").get(id=found.session_id))
    await redo(session, operation.id)
    assert filled.state() == before


async def test_hunks_of_several_come_together_with_what_is_there_now(filled: World) -> None:
    one, two = lines({3: "three", 15: "fifteen"}), lines({3: "THREE", 27: "twenty-seven"})
    first = await tried(filled, "one", {"text.txt": one})
    second = await tried(filled, "two", {"text.txt": two, "other.txt": "not wanted\n"})
    filled.write("text.txt", lines({9: "mine"}))
    wanted = [Wanted(first, {"text.txt": keys(one)[:1]}), Wanted(second, {"text.txt": keys(two)[1:]})]
    [plan] = await preview(filled.project, wanted)
    assert (plan.outcome, plan.additions, plan.deletions) == ("merge", 2, 2)
    await take(filled.project, wanted)
    assert (filled.root / "text.txt").read_text() == lines({3: "three", 9: "mine", 27: "twenty-seven"})
    assert not (filled.root / "other.txt").exists()


async def test_the_same_lines_of_two_are_a_conflict_and_stay(filled: World) -> None:
    first = await tried(filled, "one", {"text.txt": lines({3: "three"}), "a.txt": "a\n"})
    second = await tried(filled, "two", {"text.txt": lines({3: "THREE"}), "a.txt": "another\n"})
    third = await tried(filled, "three", {"text.txt": lines({3: "three"})})
    wanted = [Wanted(first), Wanted(second)]
    plans = {plan.path: plan.outcome for plan in await preview(filled.project, wanted)}
    assert plans == {"text.txt": "conflict", "a.txt": "conflict"}
    before = filled.state()
    operation, _ = await take(filled.project, wanted)
    assert operation is None
    assert filled.state() == before
    await take(filled.project, [Wanted(first), Wanted(third)])
    assert (filled.root / "text.txt").read_text() == lines({3: "three"}), "the same twice is no conflict"


async def test_what_has_gone_or_is_so_already_is_said(filled: World) -> None:
    session = await tried(filled, "one", {"text.txt": lines({}, removed=3), "kept.txt": "two\n"})
    filled.write("kept.txt", "two\n")
    (filled.root / "text.txt").unlink()
    plans = {plan.path: plan.outcome for plan in await preview(filled.project, [Wanted(session)])}
    assert plans == {"text.txt": "missing", "kept.txt": "already"}


async def test_a_mode_and_a_binary_file_come_whole(filled: World) -> None:
    session = await tried(filled, "one", {"image.bin": b"\0\1\2", "run.sh": "#!/bin/sh\ntrue\n"})
    await take(filled.project, [Wanted(session, {"image.bin": ["nothing"], "run.sh": None})])
    assert (filled.root / "image.bin").read_bytes() == b"\0\1\2"
    assert (filled.root / "run.sh").read_text() == "#!/bin/sh\ntrue\n"
    assert (filled.root / "run.sh").stat().st_mode & 0o777 == 0o755


async def test_what_leads_out_of_the_project_is_not_written(filled: World, tmp_path: Path) -> None:
    session = await tried(filled, "one", {"new/file.txt": "new\n"})
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (filled.root / "new").symlink_to(elsewhere)
    [plan] = await preview(filled.project, [Wanted(session)])
    assert plan.outcome == "unsafe"
    operation, _ = await take(filled.project, [Wanted(session)])
    assert operation is None
    assert list(elsewhere.iterdir()) == []
