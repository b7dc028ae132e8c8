"""Real folders and repositories to take snapshots of."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sessions.changes.snapshots.snapshot import SnapshotStore

Git = Callable[..., str]
IDENTITY = ("-c", "user.name=User", "-c", "user.email=user@example.org", "-c", "protocol.file.allow=always")


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def git(worktree: Path) -> Git:
    """Run git as the user would, in the worktree or in `cwd`."""

    def run(*arguments: str, cwd: Path = worktree) -> str:
        done = subprocess.run(
            ["git", *IDENTITY, *arguments], cwd=cwd, capture_output=True, text=True, check=True
        )
        return done.stdout

    return run


@pytest.fixture
def repository(worktree: Path, git: Git) -> Path:
    git("init", "-q")
    (worktree / "kept.txt").write_text("one\ntwo\n")
    (worktree / "folder").mkdir()
    (worktree / "folder" / "deep.txt").write_text("deep\n")
    git("add", "-A")
    git("commit", "-q", "-m", "start")
    return worktree


@pytest.fixture
def store(tmp_path: Path, worktree: Path) -> SnapshotStore:
    return SnapshotStore(tmp_path / "data" / "snapshots" / "project", worktree)
