from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import pytest_asyncio
from pytest_django import Settings

from tests.sessions.changes.review.world import World


def git(folder: Path, *arguments: str) -> str:
    """What git says in a folder."""
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest_asyncio.fixture
async def world(tmp_path: Path, transactional_db: None, settings: Settings) -> World:
    """A real git repository with a commit, a changed file, an untracked and an ignored one."""
    settings.SNAPSHOT_DIR = tmp_path / "snapshots"
    settings.WORKTREE_DIR = tmp_path / "worktrees"
    folder = tmp_path / "project"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "a.py").write_text("one\ntwo\nthree\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("src/a.py")
    (folder / ".gitignore").write_text("*.log\n")
    (folder / ".gitattributes").write_text("*.dos text eol=crlf\n")
    (folder / "lines.dos").write_bytes(b"raw\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "run.sh").write_text("#!/bin/sh\necho mine\n")
    (folder / "new.txt").write_text("untracked\n")
    (folder / "build.log").write_text("ignored\n")
    return await World.open(folder)


@pytest.fixture
def hooked(world: World) -> Path:
    """A file that any hook of the repository writes when it runs."""
    mark = world.root.parent / "hook-ran"
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        hook = world.root / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\necho {name} >> {mark}\n")
        hook.chmod(0o755)
    return mark
