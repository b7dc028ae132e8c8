"""What a repository brings along runs only where it is trusted, whatever git is asked to do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from sessions.changes.git.command import Git, GitError
from sessions.changes.git.commits import commit
from sessions.changes.git.index import stage
from sessions.changes.git.sides import unstaged
from sessions.changes.git.status import status
from sessions.core.git import clean_environment
from tests.sessions.changes.git.conftest import git

HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-checkout", "pre-push")


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


def hook(top: Path, name: str, text: str) -> None:
    file = top / ".git" / "hooks" / name
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def mined(top: Path, canary: Path) -> None:
    """A repository that names a program wherever it can."""
    program = f"sh -c 'echo ran >> {canary}; cat'"
    for name in HOOKS:
        hook(top, name, f"echo ran >> {canary}")
    for key in (
        "core.fsmonitor", "core.sshCommand", "core.editor", "core.pager", "core.askPass", "credential.helper",
        "credential.https://localhost.helper", "filter.evil.clean", "filter.evil.smudge", "diff.external",
        "diff.evil.textconv", "diff.evil.command", "merge.evil.driver", "gpg.program", "sequence.editor",
        "remote.origin.uploadpack", "remote.origin.receivepack",
    ):  # fmt: skip
        git(top, "config", key, program)
    git(top, "config", "commit.gpgSign", "false")
    (top / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")


def test_nothing_of_it_runs_untrusted(top: Path, canary: Path) -> None:
    mined(top, canary)
    (top / "a.txt").write_text("other\n")
    ours = Git(top)
    status(ours)
    assert unstaged(ours, "a.txt")
    stage(ours, ["a.txt"])
    commit(ours, "a message")
    ours.read("cat-file", "--filters", "HEAD:a.txt")
    assert not canary.exists()
    assert not ours.trusted
    assert set(HOOKS) <= set(ours.programs.hooks)


def test_hooks_run_where_they_are_trusted(top: Path) -> None:
    hook(top, "pre-commit", "echo 'not like this' >&2; exit 1")
    (top / "a.txt").write_text("other\n")
    trusted = Git(top, trusted=lambda _: True)
    stage(trusted, ["a.txt"])
    with pytest.raises(GitError, match="not like this"):
        commit(trusted, "a message")
    assert "a message" in commit(Git(top), "a message")


def test_hooks_of_another_folder_are_found(top: Path, ours: Git) -> None:
    (top / ".husky").mkdir()
    (top / ".husky" / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (top / ".husky" / "pre-commit").chmod(0o755)
    git(top, "config", "core.hooksPath", ".husky")
    assert ours.programs.hooks == ["pre-commit"]
    assert not ours.trusted


def test_the_persons_own_programs_run(top: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A filter of the person's configuration, such as that of LFS, which a repository only asks for."""
    own = tmp_path / "gitconfig"
    own.write_text('[filter "loud"]\n\tclean = tr a-z A-Z\n\tsmudge = cat\n[user]\n\tname = Me\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    monkeypatch.setenv("HOME", str(tmp_path))
    own.rename(tmp_path / ".gitconfig")
    (top / ".gitattributes").write_text("*.loud filter=loud\n")
    (top / "a.loud").write_text("words\n")
    ours = Git(top)
    stage(ours, ["a.loud"])
    assert git(top, "cat-file", "blob", ":a.loud") == "WORDS\n"
    assert ours.trusted


@pytest.mark.proc
def test_a_lock_that_is_held_is_said_with_who_holds_it(top: Path, ours: Git) -> None:
    lock = top / ".git" / "index.lock"
    lock.touch()
    with pytest.raises(GitError, match=r"index\.lock.*\n(.*\n)*.*left by one that was cut off"):
        stage(ours, ["a.txt"])
    holder = subprocess.Popen(
        ["sh", "-c", f"exec 9>{lock}; echo held; exec sleep 600"],
        stdout=subprocess.PIPE,
        env=clean_environment(),
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    try:
        with pytest.raises(GitError, match=f"It is held by sleep 600 .process {holder.pid}"):
            stage(ours, ["a.txt"])
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()


def test_amending_is_for_what_is_ones_own_and_not_pushed(top: Path, ours: Git, tmp_path: Path) -> None:
    commit(ours, "second", amend=True)
    assert git(top, "log", "--format=%s") == "second\n"
    git(top, "clone", "-q", "--bare", str(top), str(tmp_path / "far.git"))
    git(top, "remote", "add", "origin", str(tmp_path / "far.git"))
    git(top, "fetch", "-q")
    with pytest.raises(GitError, match="is pushed"):
        commit(ours, "third", amend=True)
    git(top, "-c", "user.email=other@localhost", "commit", "-q", "--allow-empty", "-m", "x")
    git(top, "config", "user.email", "me@localhost")
    with pytest.raises(GitError, match="somebody else's"):
        commit(ours, "third", amend=True)
