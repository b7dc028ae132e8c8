"""Worktrees of a repository, and bringing their branches back."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.changes.git import merging, stash, worktrees
from sessions.changes.git.command import Git, GitError
from sessions.changes.git.status import File, status
from tests.sessions.changes.git.conftest import git


@pytest.fixture
def beside(top: Path, ours: Git, tmp_path: Path) -> Path:
    """A worktree of the new branch `topic`."""
    worktrees.add(ours, tmp_path / "beside", name="topic")
    return tmp_path / "beside"


def listed(ours: Git) -> list[tuple[str, str, bool, bool]]:
    found = worktrees.worktrees(ours)
    return [(Path(each.folder).name, each.name, each.main, each.current) for each in found]


def test_one_is_made_of_a_new_branch_and_of_one_that_is_there(
    top: Path, ours: Git, beside: Path, tmp_path: Path
) -> None:
    assert listed(ours) == [("project", "main", True, True), ("beside", "topic", False, False)]
    assert listed(Git(beside))[1] == ("beside", "topic", False, True)
    git(top, "branch", "old")
    worktrees.add(ours, tmp_path / "third", ref="refs/heads/old")
    assert listed(ours)[2] == ("third", "old", False, False)
    for wrong in ({"name": "--force"}, {"ref": "refs/heads/none"}, {"name": "topic"}):
        with pytest.raises(GitError):
            worktrees.add(ours, tmp_path / "fourth", **wrong)
    assert not (tmp_path / "fourth").exists()


def test_one_of_a_remotes_branch_follows_it(top: Path, ours: Git, tmp_path: Path) -> None:
    git(top, "clone", "-q", "--bare", str(top), str(tmp_path / "far.git"))
    git(tmp_path / "far.git", "branch", "theirs", "main")
    git(top, "remote", "add", "origin", str(tmp_path / "far.git"))
    git(top, "fetch", "-q")
    worktrees.add(ours, tmp_path / "third", ref="refs/remotes/origin/theirs")
    assert status(Git(tmp_path / "third")).upstream == "origin/theirs"


def test_what_a_merge_brings_is_shown_before(top: Path, ours: Git, beside: Path) -> None:
    (beside / "new").write_text("x")
    git(beside, "add", ".")
    git(beside, "commit", "-qm", "add new")
    found = merging.preview(ours, "refs/heads/topic")
    assert (found.count, found.forward, found.conflicts, found.into) == (1, True, [], "main")
    assert found.files == [File("new", "A")]
    assert found.commits[0].endswith(" add new")
    git(top, "commit", "-q", "--allow-empty", "-m", "mine")
    found = merging.preview(ours, "refs/heads/topic")
    assert (found.forward, found.conflicts, found.files) == (False, [], [File("new", "A")])
    with pytest.raises(GitError, match="other commits"):
        merging.merge(ours, "refs/heads/topic", "0" * 40)
    merging.merge(ours, "refs/heads/topic", found.seen)
    assert git(top, "log", "-1", "--format=%s").strip() == "Merge branch 'topic'"
    assert merging.preview(ours, "refs/heads/topic").count == 0


def test_conflicts_are_named_before_and_left_after_a_merge(top: Path, ours: Git, beside: Path) -> None:
    for folder, text in ((beside, "theirs\n"), (top, "ours\n")):
        (folder / "a.txt").write_text(text)
        git(folder, "commit", "-qam", text.strip())
    found = merging.preview(ours, "refs/heads/topic")
    assert found.conflicts == ["a.txt"]
    assert status(ours).changed == []
    with pytest.raises(GitError, match="CONFLICT"):
        merging.merge(ours, "refs/heads/topic", found.seen)
    assert status(ours).conflicts == [File("a.txt", "U", "changed by both")]


def test_a_git_that_cannot_merge_without_files_says_so(
    top: Path, ours: Git, beside: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (beside, top):
        git(folder, "commit", "-q", "--allow-empty", "-m", folder.name)
    real = git(top, "--exec-path").strip()
    old = tmp_path / "bin" / "git"
    old.parent.mkdir()
    refuses = '[ "$1" = merge-tree ] && { echo "usage: git merge-tree" >&2; exit 129; }'
    old.write_text(f'#!/bin/sh\n{refuses}\nexec {real}/git "$@"\n')
    old.chmod(0o755)
    monkeypatch.setenv("PATH", f"{old.parent}:/usr/bin:/bin")
    found = merging.preview(ours, "refs/heads/topic")
    assert "too old" in found.unknown
    assert (found.count, found.files) == (1, [])


def test_what_is_in_no_commit_is_counted_and_put_aside(top: Path, ours: Git, beside: Path) -> None:
    (beside / "a.txt").write_text("mine\n")
    (beside / "new").write_text("mine too\n")
    git(beside, "commit", "-q", "--allow-empty", "-m", "only there")
    found = worktrees.lost(ours, str(beside))
    assert (found.changed, found.untracked, len(found.commits)) == (("a.txt",), ("new",), 1)
    (beside / "another").write_text("x")
    with pytest.raises(GitError, match="has changed"):
        worktrees.remove(ours, str(beside), found.key, Git(beside))
    (beside / "another").unlink()
    worktrees.remove(ours, str(beside), found.key, Git(beside))
    assert not beside.exists()
    assert listed(ours) == [("project", "main", True, True)]
    assert "topic" in git(top, "branch")
    (aside,) = stash.stashes(ours)
    stash.take_back(ours, aside.commit)
    assert (top / "a.txt").read_text() == "mine\n"
    assert (top / "new").read_text() == "mine too\n"


def test_what_stays(top: Path, ours: Git, beside: Path) -> None:
    for folder in (top, "/nowhere", "--force"):
        with pytest.raises(GitError):
            worktrees.lost(ours, str(folder))
    git(top, "worktree", "lock", str(beside))
    with pytest.raises(GitError, match="is locked"):
        worktrees.lost(ours, str(beside))


def test_one_whose_folder_is_gone(top: Path, ours: Git, beside: Path) -> None:
    beside.rename(beside.with_name("moved"))
    (gone,) = [each for each in worktrees.worktrees(ours) if not each.main]
    assert gone.gone
    worktrees.remove(ours, str(beside), worktrees.lost(ours, str(beside)).key, ours)
    assert listed(ours) == [("project", "main", True, True)]
