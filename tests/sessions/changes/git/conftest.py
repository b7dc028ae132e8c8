from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from sessions.changes.git.command import Git
from sessions.core.git import clean_environment


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """What git says in a folder."""
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", *arguments]
    done = subprocess.run(
        command, cwd=folder, input=stdin, check=True, capture_output=True, env=clean_environment()
    )
    return os.fsdecode(done.stdout)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository with a commit by `t`."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "a.txt").write_text("".join(f"{number}\n" for number in range(30)))
    git(folder, "init", "-q", "-b", "main")
    git(folder, "config", "user.name", "t")
    git(folder, "config", "user.email", "t@localhost")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


@pytest.fixture
def ours(top: Path) -> Git:
    return Git(top)


@pytest.fixture
def far(top: Path, tmp_path: Path) -> Path:
    """A bare repository that is the remote `origin`; it has nothing yet."""
    bare = tmp_path / "far.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    git(top, "remote", "add", "origin", str(bare))
    return bare
