"""A fork with files gets a git worktree as the files were at a point; the original is only read."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sessions.changes.operations import conversation
from sessions.changes.worktrees import forking, making
from sessions.changes.worktrees.forking import CannotFork
from sessions.core.db import in_db
from sessions.core.models import Project
from sessions.core.store import messages, projects
from tests.sessions.changes.review.world import World, fresh
from tests.sessions.changes.worktrees.conftest import git


def nothing_left(world: World) -> None:
    """No worktree, branch, folder or note is there."""
    assert git(world.root, "worktree", "list").count("\n") == 1
    assert git(world.root, "branch", "--list", "opencode/*") == ""
    assert [path for path in (world.root.parent / "worktrees").rglob("*") if not path.is_dir()] == []


async def test_the_files_are_there_as_they_were_and_the_original_is_untouched(
    world: World, hooked: Path
) -> None:
    session = await world.session("Fix: the  Thing!")
    await world.turn(session, {"src/a.py": "ONE\ntwo\nthree\n"})
    second = await world.turn(session, {"src/a.py": "ONE\ntwo\nTHREE\n", "made/b.py": "made\n"})
    world.write("src/a.py", "ONE\ntwo, mine\nTHREE\n")
    before, index = world.state(), (world.root / ".git" / "index").read_bytes()
    forked = await forking.fork_with_files(session, second)
    assert not hooked.exists()
    folder = Path(forked.session.directory)
    assert (folder / "src/a.py").read_text() == "ONE\ntwo, mine\nthree\n"
    assert not (folder / "made").exists()
    assert (folder / "run.sh").read_text() == "#!/bin/sh\necho mine\n"
    assert (folder / "run.sh").stat().st_mode & 0o111
    assert (folder / "new.txt").read_text() == "untracked\n"
    assert (folder / "link").is_symlink()
    assert (folder / "lines.dos").read_bytes() == b"raw\n"
    assert not (folder / "build.log").exists()
    assert {file.path: file.outcome for file in forked.files} == {"src/a.py": "merge", "made/b.py": "restore"}
    branch = git(folder, "branch", "--show-current").strip()
    assert branch == f"opencode/{folder.name}"
    assert folder.name.startswith("fix-the-thing-")
    assert git(folder, "status", "--porcelain").split("\n")[:-1] == [
        " M run.sh",
        " M src/a.py",
        "?? new.txt",
    ]
    assert world.state() == before
    assert (world.root / ".git" / "index").read_bytes() == index
    assert not list(folder.parent.glob("*.json"))


async def test_the_fork_lives_in_a_project_of_its_own(world: World) -> None:
    session = await world.session("Original")
    prompt = await world.turn(session, {"src/a.py": "ONE\n"})
    forked = (await forking.fork_with_files(session, "")).session
    project = await in_db(Project.objects.select_related("worktree_of").get, id=forked.project_id)
    assert project.worktree_of == world.project
    assert project.worktree == forked.directory
    assert (forked.forked_from_id, forked.forked_at, forked.title) == (session.id, "", "Original (fork #1)")
    history = await in_db(messages.history, forked.id)
    assert len(history) == 2
    assert history[0]["info"]["id"] != prompt
    again = await in_db(projects.open_project, Path(project.worktree))
    assert (again.id, again.worktree_of_id) == (project.id, world.project.id)
    assert await in_db(projects.open_project, world.root) == world.project


async def test_an_undo_after_the_point_is_taken_back_too(world: World) -> None:
    session = await world.session()
    await world.turn(session, {"src/a.py": "ONE\ntwo\nthree\n"})
    second = await world.turn(session, {"src/a.py": "ONE\ntwo\nTHREE\n"})
    first = (await in_db(messages.history, session.id))[0]["info"]["id"]
    await conversation.revert(session, first)
    assert (world.root / "src/a.py").read_text() == "one\ntwo\nthree\n"
    forked = await forking.fork_with_files(await fresh(session), second)
    assert (Path(forked.session.directory) / "src/a.py").read_text() == "ONE\ntwo\nthree\n"


async def test_what_cannot_be_taken_back_is_said_before_and_after(world: World) -> None:
    session = await world.session()
    prompt = await world.turn(session, {"src/a.py": "ONE\ntwo\nthree\n"})
    world.write("src/a.py", "mine\ntwo\nthree\n")
    shown = await forking.preview(session, prompt)
    assert [(file.path, file.outcome) for file in shown.files] == [("src/a.py", "conflict")]
    forked = await forking.fork_with_files(session, prompt)
    assert [(file.path, file.outcome) for file in forked.files] == [("src/a.py", "conflict")]
    assert (Path(forked.session.directory) / "src/a.py").read_text() == "mine\ntwo\nthree\n"


async def test_a_nested_repository_is_left_out_and_named(world: World) -> None:
    nested = world.root / "nested"
    nested.mkdir()
    (nested / "x").write_text("x")
    git(nested, "init", "-q")
    git(nested, "add", ".")
    git(nested, "commit", "-qm", "x")
    forked = await forking.fork_with_files(await world.session(), "")
    assert forked.left_out == ("nested/",)
    assert not (Path(forked.session.directory) / "nested").exists()


async def test_a_file_beyond_a_link_is_not_followed(world: World) -> None:
    outside = world.root.parent / "outside"
    outside.mkdir()
    (outside / "a.py").write_text("secret\n")
    (world.root / "src/a.py").unlink()
    (world.root / "src").rmdir()
    (world.root / "src").symlink_to(outside)
    folder = Path((await forking.fork_with_files(await world.session(), "")).session.directory)
    assert (folder / "src").is_symlink()


async def test_no_filter_of_the_repository_runs(world: World) -> None:
    mark = world.root.parent / "filter-ran"
    git(world.root, "config", "filter.evil.smudge", f"touch {mark}; cat")
    git(world.root, "config", "filter.evil.clean", f"touch {mark}; cat")
    world.write(".gitattributes", "*.py filter=evil\n")
    forked = await forking.fork_with_files(await world.session(), "")
    assert (Path(forked.session.directory) / "src/a.py").read_text() == "one\ntwo\nthree\n"
    assert not mark.exists()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        ("plain", "no git repository"),
        ("unborn", "no commit yet"),
        ("submodule", "has submodules"),
        ("sparse", "sparse checkout"),
        ("broken", "git does not accept this repository"),
    ],
)
async def test_where_no_worktree_can_be_made(world: World, spoil: str, why: str) -> None:
    session = await world.session()
    _SPOILS[spoil](world.root)
    shown = await forking.preview(session, "")
    assert why in shown.refusal
    with pytest.raises(CannotFork, match=why):
        await forking.fork_with_files(session, "")
    assert not (world.root.parent / "worktrees").exists()


def _unborn(root: Path) -> None:
    git(root, "checkout", "-q", "--orphan", "fresh")


def _submodule(root: Path) -> None:
    head = git(root, "rev-parse", "HEAD").strip()
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{head},sub")


def _sparse(root: Path) -> None:
    git(root, "checkout", "-q", "-f")
    git(root, "sparse-checkout", "set", "--no-cone", "/run.sh")


def _plain(root: Path) -> None:
    (root / ".git").rename(root.parent / "gone")


def _broken(root: Path) -> None:
    (root / ".git" / "config").write_text("[core\n")


_SPOILS: dict[str, Callable[[Path], None]] = {
    "plain": _plain,
    "unborn": _unborn,
    "submodule": _submodule,
    "sparse": _sparse,
    "broken": _broken,
}


async def test_no_room(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(world.root)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=3))
    with pytest.raises(CannotFork, match="not enough room"):
        await forking.fork_with_files(await world.session(), "")
    nothing_left(world)


async def test_a_failure_while_copying_leaves_nothing_behind(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(making, "copy_file", full)
    with pytest.raises(CannotFork, match="No space left on device"):
        await forking.fork_with_files(await world.session(), "")
    nothing_left(world)


async def test_a_folder_that_is_there_is_not_overwritten(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions.changes.worktrees.making.secrets.token_hex", lambda _: "same")
    session = await world.session("Twice")
    first = await forking.fork_with_files(session, "")
    with pytest.raises(CannotFork, match="already"):
        await forking.fork_with_files(session, "")
    assert (Path(first.session.directory) / "new.txt").exists()


async def test_a_fork_of_a_fork(world: World) -> None:
    first = (await forking.fork_with_files(await world.session("Deep"), "")).session
    second = (await forking.fork_with_files(first, "")).session
    assert second.title == "Deep (fork #2)"
    assert second.project_id not in (first.project_id, world.project.id)
    assert (Path(second.directory) / "new.txt").read_text() == "untracked\n"
