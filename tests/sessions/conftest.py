from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import pytest_asyncio

from tests.sessions.changes.review.world import World


def _git(folder: Path, *arguments: str) -> None:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-C", str(folder), *arguments]
    subprocess.run(command, check=True, capture_output=True)


@pytest_asyncio.fixture
async def world(tmp_path: Path, transactional_db: None, settings: pytest.FixtureRequest) -> World:
    """A real git repository, opened as a project."""
    settings.SNAPSHOT_DIR = tmp_path / "snapshots"  # type: ignore[attr-defined]
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "kept.txt").write_text("one\ntwo\nthree\n")
    _git(folder, "init", "-q")
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "first")
    return await World.open(folder)


@pytest_asyncio.fixture
async def library(tmp_path: Path, world: World) -> World:
    """A folder beside the project, which has a file of the same name."""
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "kept.txt").write_text("the library's\n")
    return await World.open(folder)
