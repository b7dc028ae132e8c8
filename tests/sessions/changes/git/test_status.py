"""How a working tree stands, as git itself says."""

from __future__ import annotations

import os
from pathlib import Path

from sessions.changes.git.command import Git
from sessions.changes.git.index import stage, unstage
from sessions.changes.git.status import File, status
from tests.sessions.changes.git.conftest import git

ODD = '-n "odd"\n<b>\tname\''


def test_each_kind_of_change_is_in_its_list(top: Path, ours: Git) -> None:
    (top / "a.txt").write_text("staged\n")
    git(top, "add", ".")
    (top / "a.txt").write_text("changed\n")
    (top / ODD).write_text("new")
    found = status(ours)
    assert (found.branch, found.upstream, found.doing) == ("main", "", None)
    assert found.staged == [File("a.txt", "M")]
    assert found.changed == [File("a.txt", "M")]
    assert found.untracked == [File(ODD, "?")]
    assert found.conflicts == []


def test_names_that_are_no_text_are_staged_and_unstaged(top: Path, ours: Git) -> None:
    bytes_name = os.fsdecode(b"caf\xe9 *?[x]")
    for name in (ODD, bytes_name, ":(top)magic"):
        (top / name).write_text("new")
        stage(ours, [name])
    assert {file.path for file in status(ours).staged} == {ODD, bytes_name, ":(top)magic"}
    unstage(ours, [bytes_name])
    assert [file.path for file in status(ours).untracked] == [bytes_name]


def test_before_the_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "a").write_text("x")
    ours = Git(tmp_path)
    stage(ours, ["a"])
    assert (status(ours).branch, status(ours).commit) == ("main", "")
    assert status(ours).staged == [File("a", "A")]
    unstage(ours, ["a"])
    assert status(ours).untracked == [File("a", "?")]


def test_how_far_a_branch_is_from_the_one_it_follows(top: Path, ours: Git, tmp_path: Path) -> None:
    git(top, "clone", "-q", "--bare", str(top), str(tmp_path / "far.git"))
    git(top, "remote", "add", "origin", str(tmp_path / "far.git"))
    git(top, "fetch", "-q")
    git(top, "branch", "-q", "-u", "origin/main")
    git(top, "commit", "-q", "--allow-empty", "-m", "mine")
    found = status(ours)
    assert (found.upstream, found.ahead, found.behind, found.gone) == ("origin/main", 1, 0, False)
    git(top, "update-ref", "-d", "refs/remotes/origin/main")
    assert status(ours).gone


def test_a_conflict_and_the_merge_it_is_of(top: Path, ours: Git) -> None:
    git(top, "switch", "-qc", "other")
    (top / "a.txt").write_text("theirs\n")
    git(top, "commit", "-qam", "theirs")
    git(top, "switch", "-q", "main")
    (top / "a.txt").write_text("ours\n")
    git(top, "commit", "-qam", "ours")
    merged = git(top, "merge", "other", "--no-commit", "-s", "ours")  # a merge that is half done
    assert merged is not None
    doing = status(ours).doing
    assert doing is not None
    assert doing.words == "a merge"
    git(top, "merge", "--abort")
    top.joinpath("conflict.sh").write_text("git merge other || true")
    git(top, "-c", "alias.m=!sh conflict.sh", "m")
    assert status(ours).conflicts == [File("a.txt", "U", "changed by both")]


def test_a_submodule_says_so(top: Path, ours: Git, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    git(inner, "commit", "-q", "--allow-empty", "-m", "first")
    git(top, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(top, "commit", "-qm", "with a submodule")
    git(top / "sub", "commit", "-q", "--allow-empty", "-m", "second")
    assert status(ours).changed == [File("sub", "M", "submodule, other commit")]
