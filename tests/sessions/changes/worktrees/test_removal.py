"""A worktree is removed after its losses were shown, and only while they are still those."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.changes.worktrees import forking
from sessions.changes.worktrees.removal import CannotRemove, losses, remove
from tests.sessions.changes.review.world import World
from tests.sessions.changes.worktrees.conftest import git


@pytest.fixture
def clean(world: World) -> World:
    git(world.root, "add", "-A")
    git(world.root, "commit", "-qm", "second")
    return world


async def made(world: World) -> Path:
    return Path((await forking.fork_with_files(await world.session("Gone"), "")).session.directory)


async def test_one_without_anything_of_its_own_goes_with_its_branch(clean: World) -> None:
    folder = await made(clean)
    found = losses(folder)
    assert (found.files, found.ignored, found.loose, found.commits) == (0, 0, (), ())
    remove(folder, clean.root, found.key, with_branch=False)
    assert not folder.exists()
    assert git(clean.root, "worktree", "list").count("\n") == 1
    assert git(clean.root, "branch", "--list", "opencode/*") == ""


async def test_what_would_be_lost_is_counted(clean: World, hooked: Path) -> None:
    folder = await made(clean)
    (folder / "src/a.py").write_text("changed\n")
    (folder / "fresh.txt").write_text("x")
    (folder / "some.log").write_text("ignored")
    git(folder, "commit", "-qm", "mine", "--allow-empty")
    git(folder, "checkout", "-q", "--detach")
    git(folder, "commit", "-qm", "loose", "--allow-empty")
    hooked.unlink()
    found = losses(folder)
    assert (found.changed, found.untracked, found.ignored) == (("src/a.py",), ("fresh.txt",), 1)
    assert [commit.subject for commit in found.loose] == ["loose"]
    assert found.branch == ""
    git(folder, "checkout", "-q", f"opencode/{folder.name}")
    hooked.unlink()
    on_branch = losses(folder)
    assert [commit.subject for commit in on_branch.commits] == ["mine"]
    assert on_branch.loose == ()
    assert not hooked.exists()


async def test_a_submodule_may_hold_work_and_is_not_asked(clean: World, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/SPRUNG\n")
    trap.chmod(0o755)
    folder = await made(clean)
    git(folder, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(clean.root), "library")
    git(folder, "commit", "-qm", "with a library")
    git(folder / "library", "config", "core.fsmonitor", str(trap))
    (folder / "library" / "mine.txt").write_text("mine\n")
    assert losses(folder).changed == ("library/",)
    assert not (tmp_path / "SPRUNG").exists()


async def test_nothing_goes_that_was_not_shown(clean: World) -> None:
    folder = await made(clean)
    seen = losses(folder).key
    (folder / "fresh.txt").write_text("x")
    with pytest.raises(CannotRemove, match="has changed since"):
        remove(folder, clean.root, seen, with_branch=True)
    assert (folder / "fresh.txt").exists()


@pytest.mark.parametrize("with_branch", [False, True])
async def test_commits_of_its_own_keep_the_branch_unless_it_is_to_go(clean: World, with_branch: bool) -> None:
    folder = await made(clean)
    git(folder, "commit", "-qm", "mine", "--allow-empty")
    remove(folder, clean.root, losses(folder).key, with_branch=with_branch)
    assert bool(git(clean.root, "branch", "--list", "opencode/*")) is not with_branch
    assert not folder.exists()


async def test_one_that_is_gone_or_whose_repository_is(clean: World) -> None:
    folder = await made(clean)
    clean.root.rename(clean.root.parent / "elsewhere")
    with pytest.raises(CannotRemove, match="cannot say what would be lost"):
        losses(folder)
    (clean.root.parent / "elsewhere").rename(clean.root)
    assert losses(folder.parent / "missing").files == 0


async def test_a_folder_of_the_user_is_never_removed(clean: World) -> None:
    await made(clean)
    with pytest.raises(CannotRemove, match="not made by this app"):
        remove(clean.root, clean.root, losses(clean.root).key, with_branch=False)
    assert clean.root.exists()
