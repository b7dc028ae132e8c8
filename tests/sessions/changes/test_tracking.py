"""What a command did to a file that a tool wrote while it ran."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_django import Settings

from sessions.changes.snapshots.objects import object_id
from sessions.changes.tracking import Tracker
from sessions.core.models import FileChange

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
    running = project.begin()
    for step in steps:
        step()
    return project.end(running)


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


def test_lines_of_a_log_go_to_the_command_that_ran_when_they_came(project: Tracker) -> None:
    log = project.worktree / "log"

    def append(line: str) -> None:
        with log.open("a") as file:
            file.write(line)

    first = project.begin()
    append("first\n")
    second = project.begin()
    (begun,) = [*project.end(first)]
    append("second\n")
    (ended,) = project.end(second)
    assert (begun.origin, ended.origin) == ("", "")
    assert (begun.before, begun.after) == ("", object_id(b"first\n"))
    assert (ended.before, ended.after) == (object_id(b"first\n"), object_id(b"first\nsecond\n"))


def test_each_part_of_a_command_is_its_own_though_another_came_and_went(project: Tracker) -> None:
    file = project.worktree / "file"
    first = project.begin()
    file.write_bytes(b"a\n")
    second = project.begin()
    (project.worktree / "other").write_bytes(b"x\n")
    (others,) = project.end(second)
    assert others.origin == FileChange.Origin.OVERLAP
    file.write_bytes(b"b\n")
    assert others.path == "other"
    steps = [(change.before, change.after) for change in project.end(first)]
    assert steps == [(object_id(BEFORE), object_id(b"a\n")), (object_id(b"a\n"), object_id(b"b\n"))]


def edit(project: Tracker) -> None:
    def write() -> None:
        (project.worktree / "file").write_bytes(EDITED)

    project.writing({"file": object_id(EDITED)}, write)
