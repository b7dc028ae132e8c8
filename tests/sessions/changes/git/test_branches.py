"""Branches, remotes, commits and what is put aside, with real repositories at both ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions.changes.git import branches, commits, history, remotes, stash
from sessions.changes.git.command import Git, GitError
from sessions.changes.git.commits import commit
from sessions.changes.git.index import stage
from sessions.changes.git.status import File, status
from tests.sessions.changes.git.conftest import git


def committed(top: Path, text: str) -> None:
    (top / "a.txt").write_text(text)
    ours = Git(top)
    stage(ours, ["a.txt"])
    commit(ours, f"write {text}")


def refs(ours: Git) -> list[str]:
    return sorted(branch.ref for branch in branches.branches(ours))


def test_a_branch_is_made_renamed_left_and_deleted(top: Path, ours: Git) -> None:
    branches.create(ours, "topic/one")
    committed(top, "on it")
    branches.rename(ours, "refs/heads/topic/one", "two")
    assert refs(ours) == ["refs/heads/main", "refs/heads/two"]
    branches.switch(ours, "refs/heads/main")
    assert (top / "a.txt").read_text() != "on it"
    lost = branches.only_there(ours, "refs/heads/two")
    assert [line.partition(" ")[2] for line in lost] == ["write on it"]
    tip = git(top, "rev-parse", "two").strip()
    with pytest.raises(GitError, match="other commits"):
        branches.delete(ours, "refs/heads/two", "0" * 40)
    branches.delete(ours, "refs/heads/two", tip)
    assert refs(ours) == ["refs/heads/main"]
    branches.create(ours, "two", at=tip, stay=True)
    assert git(top, "rev-parse", "two").strip() == tip
    assert status(ours).branch == "main"


def test_what_stands_in_the_way_of_switching_is_said(top: Path, ours: Git) -> None:
    branches.create(ours, "other")
    committed(top, "theirs")
    branches.switch(ours, "refs/heads/main")
    (top / "a.txt").write_text("mine")
    with pytest.raises(GitError, match=r"would be overwritten by checkout:\n\s+a\.txt"):
        branches.switch(ours, "refs/heads/other")
    assert (top / "a.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["", "-f", "--orphan", "a..b", "a b", "@{-1}"])
def test_a_name_that_is_none(ours: Git, name: str) -> None:
    with pytest.raises(GitError):
        branches.create(ours, name)


@pytest.mark.parametrize("ref", ["", "-f", "refs/heads/none", "HEAD", "refs/heads/../../HEAD"])
def test_a_branch_that_is_not_there(ours: Git, ref: str) -> None:
    for act in (branches.switch, branches.only_there):
        with pytest.raises(GitError, match="no such branch"):
            act(ours, ref)


def test_a_branch_of_another_worktree_says_so(top: Path, ours: Git, tmp_path: Path) -> None:
    git(top, "worktree", "add", "-q", "-b", "beside", str(tmp_path / "beside"))
    found = {branch.name: branch.elsewhere for branch in branches.branches(ours)}
    assert found == {"main": "", "beside": str(tmp_path / "beside")}
    there = Git(tmp_path / "beside")
    assert status(there).branch == "beside"


def test_a_branch_is_pushed_fetched_and_pulled(top: Path, far: Path, ours: Git, tmp_path: Path) -> None:
    remotes.push(ours)
    assert status(ours).upstream == "origin/main"
    git(tmp_path, "clone", "-q", str(far), "other")
    other = tmp_path / "other"
    git(other, "config", "user.name", "o")
    git(other, "config", "user.email", "o@localhost")
    committed(other, "theirs")
    remotes.push(Git(other))
    remotes.fetch(ours)
    assert status(ours).behind == 1
    remotes.pull(ours)
    assert (top / "a.txt").read_text() == "theirs"
    committed(other, "theirs again")
    remotes.push(Git(other))
    committed(top, "mine")
    with pytest.raises(GitError, match=r"rejected|fetch first"):
        remotes.push(ours)
    with pytest.raises(GitError, match="fast-forward"):
        remotes.pull(ours)
    git(top, "config", "pull.rebase", "false")
    with pytest.raises(GitError, match="CONFLICT"):
        remotes.pull(ours)
    assert status(ours).conflicts == [File("a.txt", "U", "changed by both")]


def test_what_the_remote_says_is_told(top: Path, far: Path, ours: Git) -> None:
    hook = far / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'not on a Friday'\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(GitError, match="remote: not on a Friday"):
        remotes.push(ours)


def test_a_remote_inside_of_the_working_tree_gets_nothing(top: Path, ours: Git) -> None:
    git(top, "init", "-q", "--bare", "evil.git")
    for url in ("evil.git", "./evil.git", str(top / "evil.git"), f"file://{top}/evil.git"):
        git(top, "config", "remote.origin.url", url)
        with pytest.raises(GitError, match="lies in the working tree"):
            remotes.push(ours)


def test_nothing_is_asked_for_a_password(top: Path, ours: Git) -> None:
    git(top, "remote", "add", "origin", "http://localhost:1/none.git")
    with pytest.raises(GitError, match="unable to access"):
        remotes.push(ours)
    git(top, "remote", "set-url", "origin", "ext::sh -c 'echo ran >&2'")
    with pytest.raises(GitError, match="transport 'ext' not allowed"):
        remotes.fetch(ours)


def test_the_log_and_what_a_commit_changed(top: Path, ours: Git) -> None:
    committed(top, "second")
    (top / "new").write_text("<b>\n")
    stage(ours, ["new"])
    commit(ours, "third\n\nwith a body")
    found = history.log(ours)
    assert [one.subject for one in found] == ["third", "write second", "first"]
    assert found[0].refs == "HEAD -> main"
    assert [one.subject for one in history.log(ours, path="a.txt")] == ["write second", "first"]
    assert history.message(ours, found[0].hash) == "third\n\nwith a body"
    assert history.changed(ours, found[0].hash) == [File("new", "A")]
    assert history.changed(ours, found[2].hash) == [File("a.txt", "A")]
    sides = history.sides_of(ours, found[1].hash, "a.txt")
    assert sides is not None
    assert sides.after == b"second"
    with pytest.raises(GitError):
        history.message(ours, "--output=x")


def test_a_merge_is_shown_beside_its_first_parent(top: Path, ours: Git) -> None:
    branches.create(ours, "other")
    (top / "theirs").write_text("x")
    stage(ours, ["theirs"])
    commit(ours, "theirs")
    branches.switch(ours, "refs/heads/main")
    git(top, "merge", "-q", "--no-ff", "-m", "merged", "other")
    assert history.changed(ours, history.log(ours)[0].hash) == [File("theirs", "A")]


def test_what_is_put_aside_comes_back(top: Path, ours: Git) -> None:
    (top / "a.txt").write_text("mine")
    (top / "new").write_text("mine too")
    stash.put_aside(ours, "for later")
    assert (status(ours).changed, status(ours).untracked, status(ours).stashes) == ([], [], 1)
    (aside,) = stash.stashes(ours)
    assert "for later" in aside.words
    stash.take_back(ours, aside.commit)
    assert (top / "new").read_text() == "mine too"
    stash.drop(ours, aside.commit)
    assert stash.stashes(ours) == []
    stash.store(ours, aside.commit, aside.words)
    assert [one.commit for one in stash.stashes(ours)] == [aside.commit]


def test_who_wrote_the_lines_of_a_file(top: Path, ours: Git) -> None:
    lines = [f"{number}\n" for number in range(30)]
    committed(top, "".join([*lines[:2], "<b>two\n", *lines[3:]]))
    (top / "a.txt").write_text("".join([*lines[:2], "<b>two\n", *lines[3:], "not yet\n"]))
    found = history.blame(ours, "a.txt")
    assert [found.commits[number].subject if number >= 0 else "" for number in found.lines[1:4]] == [
        "first",
        "write 0",
        "first",
    ]
    assert found.lines[30] == -1
    assert found.commits[found.lines[0]].author == "t"
    (top / "new").write_text("x")
    with pytest.raises(GitError, match="no such path"):
        history.blame(ours, "new")


def test_a_commit_is_reverted_and_picked(top: Path, ours: Git) -> None:
    git(top, "switch", "-qc", "other")
    (top / "b.txt").write_text("theirs\n")
    git(top, "add", ".")
    git(top, "commit", "-qm", "theirs")
    theirs = git(top, "rev-parse", "HEAD").strip()
    git(top, "switch", "-q", "main")
    assert not history.is_here(ours, theirs)
    commits.pick(ours, theirs)
    assert (top / "b.txt").read_text() == "theirs\n"
    picked = git(top, "rev-parse", "HEAD").strip()
    assert history.is_here(ours, picked)
    commits.revert(ours, picked)
    assert not (top / "b.txt").exists()
    with pytest.raises(GitError):
        commits.pick(ours, "--all")


def test_a_merge_is_reverted_as_seen_from_its_branch(top: Path, ours: Git) -> None:
    git(top, "switch", "-qc", "other")
    (top / "b.txt").write_text("theirs\n")
    git(top, "add", ".")
    git(top, "commit", "-qm", "theirs")
    git(top, "switch", "-q", "main")
    git(top, "commit", "-q", "--allow-empty", "-m", "ours")
    git(top, "merge", "-q", "--no-edit", "other")
    assert (top / "b.txt").exists()
    commits.revert(ours, git(top, "rev-parse", "HEAD").strip())
    assert not (top / "b.txt").exists()


def test_a_revert_that_conflicts_is_half_done(top: Path, ours: Git) -> None:
    for text in ("one\n", "two\n"):
        (top / "a.txt").write_text(text)
        git(top, "commit", "-qam", text.strip())
    with pytest.raises(GitError, match="could not revert"):
        commits.revert(ours, git(top, "rev-parse", "HEAD~1").strip())
    now = status(ours)
    assert now.doing is not None
    assert now.doing.act == "revert"
    assert [file.path for file in now.conflicts] == ["a.txt"]
