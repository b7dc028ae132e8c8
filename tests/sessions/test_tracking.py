"""What a command did to a file that a tool wrote while it ran."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from sessions.models import FileChange
from sessions.snapshots.objects import object_id
from sessions.tracking import Tracker

BEFORE, EDITED = b"one\n", b"two\n"


@pytest.fixture
def project(tmp_path: Path, settings: Settings) -> Tracker:
    settings.SNAPSHOT_DIR = tmp_path / "snapshots"
    worktree = tmp_path / "project"
    worktree.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=worktree, check=True)
    (worktree / "file").write_bytes(BEFORE)
    (worktree / "file").chmod(0o644)
    return Tracker("project", worktree)


def command(project: Tracker, *steps: Callable[[], object]) -> list[FileChange]:
    """What is recorded of a command that these things happened during."""
    project.begin()
    for step in steps:
        step()
    return project.end()


def test_what_a_tool_wrote_is_not_the_commands_doing(project: Tracker) -> None:
    assert command(project, lambda: edit(project)) == []


def test_a_mode_that_a_command_set_after_an_edit_is_its_doing(project: Tracker) -> None:
    file = project.worktree / "file"
    (change,) = command(project, lambda: edit(project), lambda: file.chmod(0o755))
    assert (change.before, change.after) == (object_id(EDITED), object_id(EDITED))
    assert (change.mode_before, change.mode_after) == (0o100644, 0o100755)


def test_content_that_a_command_wrote_after_an_edit_is_its_doing(project: Tracker) -> None:
    file = project.worktree / "file"
    (change,) = command(project, lambda: edit(project), lambda: file.write_bytes(b"three\n"))
    assert (change.before, change.after) == (object_id(EDITED), object_id(b"three\n"))


def edit(project: Tracker) -> None:
    def write() -> None:
        (project.worktree / "file").write_bytes(EDITED)

    project.writing({"file": object_id(EDITED)}, write)
