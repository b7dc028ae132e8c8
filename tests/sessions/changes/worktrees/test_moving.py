"""A session moves to a worktree, with what is in no commit and with all that can be undone of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sessions.changes.history import log
from sessions.changes.operations import conversation, hunks
from sessions.changes.review.verdicts import Scope, listing
from sessions.changes.worktrees import moving
from sessions.changes.worktrees.making import CannotFork
from sessions.core.db import in_db
from sessions.core.models import FileChange, Operation, Session
from sessions.core.store import messages, operations
from sessions.core.store import sessions as session_store
from tests.sessions.changes.review.world import World, fresh
from tests.sessions.changes.worktrees.conftest import git
from tests.sessions.changes.worktrees.test_making import nothing_left


def status(folder: Path) -> list[str]:
    return git(folder, "status", "--porcelain", "-uall").splitlines()


async def worked(world: World) -> Session:
    """A session with two turns, and a subagent's change between them."""
    session = await world.session("Fix it")
    await world.turn(session, {"src/a.py": "ONE\ntwo\nthree\n"})
    child = await in_db(session_store.create, world.project, str(world.root / "src"), parent=session.id)
    await world.turn(child, {"deep/below.bin": b"\0\xff\n"})
    await world.turn(session, {"src/a.py": "ONE\ntwo\nTHREE\n", "made/b.py": "made\n"})
    return session


async def test_all_that_is_in_no_commit_goes_along(world: World, hooked: Path) -> None:
    session = await worked(world)
    world.write("staged.txt", "staged\n")
    git(world.root, "add", "staged.txt")
    world.write("staged.txt", "staged\nand more\n")
    (world.root / "link").unlink()
    (world.root / "link").symlink_to("run.sh")
    (world.root / "lines.dos").unlink()
    shown = await moving.preview(session)
    assert shown.found is not None
    assert {file.path: (file.own, file.staged) for file in shown.found.files} == {
        "deep/below.bin": (True, False),
        "lines.dos": (False, False),
        "link": (False, False),
        "made/b.py": (True, False),
        "new.txt": (False, False),
        "run.sh": (False, False),
        "src/a.py": (True, False),
        "staged.txt": (False, True),
    }
    before = status(world.root)
    hooked.unlink()
    moved = await moving.move(session, name="Side way")
    assert not hooked.exists()
    folder = Path(moved.session.directory)
    assert (folder.name, moved.left, moved.staged) == ("side-way", (), False)
    assert git(folder, "branch", "--show-current").strip() == "opencode/side-way"
    assert status(folder) == before
    assert (folder / "deep/below.bin").read_bytes() == b"\0\xff\n"
    assert (folder / "run.sh").stat().st_mode & 0o111
    assert os.readlink(folder / "link") == "run.sh"
    assert git(folder, "diff", "--cached", "--stat").count("staged.txt") == 1
    assert not (folder / "build.log").exists()
    assert status(world.root) == []
    assert sorted(os.listdir(world.root)) == [
        ".git", ".gitattributes", ".gitignore", "build.log", "lines.dos", "link", "run.sh", "src",
    ]  # fmt: skip
    assert (world.root / "lines.dos").read_bytes() == b"raw\r\n"
    assert not list(folder.parent.glob("*.json"))


async def test_the_session_and_those_below_it_belong_to_the_worktree(world: World) -> None:
    session = await worked(world)
    other = await world.session("Another")
    moved = (await moving.move(session)).session
    rows = await in_db(lambda: list(Session.objects.order_by("time_created", "-id")))
    assert {
        row.id: row.project_id for row in rows if row.id != other.id and row.title != "Edits by hand"
    } == {row.id: moved.project_id for row in rows if row.id == moved.id or row.parent_id == moved.id}
    child = next(row for row in rows if row.parent_id == moved.id)
    assert child.directory == f"{moved.directory}/src"
    assert next(row for row in rows if row.id == other.id).project_id == world.project.id
    assert moved.project.worktree_of_id == world.project.id
    assert moved.directory == moved.project.worktree


async def test_turns_from_before_are_undone_there(world: World) -> None:
    session = await worked(world)
    moved = (await moving.move(session)).session
    folder = Path(moved.directory)
    files = {file.path for file in (await listing(moved, Scope("session"))).files}
    assert files == {"src/a.py", "made/b.py"}
    prompts = [entry["info"]["id"] for entry in await in_db(messages.history, moved.id)]
    await conversation.revert(moved, prompts[2])
    assert (folder / "src/a.py").read_text() == "ONE\ntwo\nthree\n"
    assert not (folder / "made").exists()
    await conversation.revert(await fresh(moved), prompts[0])
    assert (folder / "src/a.py").read_text() == "one\ntwo\nthree\n"
    await conversation.unrevert(await fresh(moved))
    assert (folder / "src/a.py").read_text() == "ONE\ntwo\nTHREE\n"
    assert (folder / "made/b.py").read_text() == "made\n"


async def test_an_undo_from_before_is_redone_there(world: World) -> None:
    session = await worked(world)
    first = (await in_db(messages.history, session.id))[0]["info"]["id"]
    await conversation.revert(session, first)
    moved = (await moving.move(await fresh(session))).session
    assert (Path(moved.directory) / "src/a.py").read_text() == "one\ntwo\nthree\n"
    await conversation.unrevert(moved)
    assert (Path(moved.directory) / "src/a.py").read_text() == "ONE\ntwo\nTHREE\n"
    assert (world.root / "src/a.py").read_text() == "one\ntwo\nthree\n"


async def test_what_went_comes_back_to_the_original_by_its_log(world: World) -> None:
    session = await worked(world)
    before = world.state()
    moved = await moving.move(session)
    assert moved.operation is not None
    found = await in_db(log.page, world.project, log.Asked())
    assert [getattr(entry, "id", "") for entry in found.entries] == [moved.operation.id]
    left = await in_db(operations.get, world.project.id, moved.operation.id)
    assert left is not None
    await hunks.redo(left.session, left.id)
    assert world.state() == before


async def test_only_what_the_session_changed(world: World) -> None:
    session = await worked(world)
    world.write("src/a.py", "ONE\ntwo, mine\nTHREE\n")
    git(world.root, "add", "run.sh", "src/a.py")
    moved = await moving.move(session, which="own")
    folder = Path(moved.session.directory)
    assert status(folder) == ["M  src/a.py", "?? deep/below.bin", "?? made/b.py"]
    assert (folder / "run.sh").read_text() == "#!/bin/sh\n"
    assert status(world.root) == ["M  run.sh", "?? new.txt"]
    assert (world.root / "src/a.py").read_text() == "one\ntwo\nthree\n"


async def test_a_copy_leaves_the_original_as_it_was(world: World) -> None:
    session = await worked(world)
    git(world.root, "add", "run.sh")
    before, index = world.state(), (world.root / ".git" / "index").read_bytes()
    moved = await moving.move(session, keep=True)
    assert (world.state(), (world.root / ".git" / "index").read_bytes()) == (before, index)
    assert status(Path(moved.session.directory)) == status(world.root)
    assert moved.operation is None


async def test_ignored_files_of_the_session_are_copied_and_nested_repositories_named(world: World) -> None:
    session = await world.session()
    await world.turn(session, {"own.log": "mine\n", "nested/x": "x\n"})
    git(world.root / "nested", "init", "-q")
    git(world.root / "nested", "add", ".")
    git(world.root / "nested", "commit", "-qm", "x")
    shown = (await moving.preview(session)).found
    assert shown is not None
    assert (shown.ignored, shown.left_out) == (("own.log",), ("nested/x",))
    folder = Path((await moving.move(session)).session.directory)
    assert (folder / "own.log").read_text() == "mine\n"
    assert (world.root / "own.log").exists()
    assert (world.root / "nested/x").exists()


async def test_what_a_filter_writes_stays_as_it_is(world: World) -> None:
    mark = world.root.parent / "filter-ran"
    git(world.root, "config", "filter.evil.smudge", f"touch {mark}; cat")
    git(world.root, "config", "filter.evil.clean", f"touch {mark}; cat")
    world.write(".gitattributes", "*.py filter=evil\n")
    session = await world.session()
    await world.turn(session, {"src/a.py": "ONE\n"})
    shown = (await moving.preview(session)).found
    assert shown is not None
    assert shown.left_out == ("src/a.py",)
    folder = Path((await moving.move(session)).session.directory)
    assert (folder / "src/a.py").read_text() == (world.root / "src/a.py").read_text() == "ONE\n"
    assert not mark.exists()


async def test_contents_are_in_the_store_of_the_worktree(world: World) -> None:
    session = await worked(world)
    moved = (await moving.move(session)).session
    rows = await in_db(lambda: list(FileChange.objects.filter(project_id=moved.project_id)))
    assert len(rows) == 4
    objects = (World(moved.project)).tracker.objects
    for row in rows:
        for address in filter(None, (row.before, row.after)):
            assert objects.get(address) is not None


@pytest.mark.parametrize("what", ["merge", "rebase", "conflict", "turn", "child", "plain"])
async def test_what_is_refused_leaves_all_as_it_was(world: World, what: str) -> None:
    session = await worked(world)
    if what == "merge":
        (world.root / ".git" / "MERGE_HEAD").write_text(git(world.root, "rev-parse", "HEAD"))
    elif what == "rebase":
        (world.root / ".git" / "rebase-merge").mkdir()
    elif what == "conflict":
        _conflict(world.root)
    elif what == "turn":
        child = Session.objects.filter(parent_id=session.id)
        await in_db(lambda: child.update(lease_owner="worker:1", status={"type": "busy"}))
    elif what == "child":
        session = await in_db(Session.objects.select_related("project").get, parent_id=session.id)
    else:
        (world.root / ".git").rename(world.root / "git")
    why = {
        "merge": "A merge is in progress",
        "rebase": "A rebase is in progress",
        "conflict": "files with conflicts",
        "turn": "Stop the turn first",
        "child": "move that one",
        "plain": "no git repository",
    }[what]
    before = world.state()
    assert why in (await moving.preview(session)).refusal
    with pytest.raises(CannotFork, match=why):
        await moving.move(session)
    assert world.state() == before
    assert (await fresh(session)).project_id == world.project.id
    assert not await in_db(lambda: list(Operation.objects.all()))
    if what != "plain":
        assert git(world.root, "branch", "--list", "opencode/*") == ""
        assert git(world.root, "worktree", "list").count("\n") == 1


def _conflict(root: Path) -> None:
    """As `git stash pop` leaves one: nothing is in progress."""
    world_has = (root / "run.sh").read_text()
    git(root, "stash", "push", "-q", "run.sh")
    (root / "run.sh").write_text("#!/bin/sh\necho theirs\n")
    git(root, "commit", "-qam", "theirs")
    subprocess.run(["git", "-C", str(root), "stash", "pop"], check=False, capture_output=True)
    assert world_has not in (root / "run.sh").read_text()


async def test_a_failure_before_the_rows_moved_leaves_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await worked(world)
    before = world.state()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(moving, "_keep_contents", full)
    with pytest.raises(OSError, match="No space"):
        await moving.move(session)
    nothing_left(world)
    assert world.state() == before
