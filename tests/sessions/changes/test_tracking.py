"""What a command did to a file that a tool wrote while it ran, and what several did at the same time."""

from __future__ import annotations

import random
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
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
    found: list[FileChange] = []
    running = project.begin(found.extend)
    for step in steps:
        step()
    project.end(running)
    return found


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

    of_first: list[FileChange] = []
    of_second: list[FileChange] = []
    first = project.begin(of_first.extend)
    append("first\n")
    second = project.begin(of_second.extend)
    project.end(first)
    append("second\n")
    project.end(second)
    (begun,), (ended,) = of_first, of_second
    assert (begun.origin, ended.origin) == ("", "")
    assert (begun.before, begun.after) == ("", object_id(b"first\n"))
    assert (ended.before, ended.after) == (object_id(b"first\n"), object_id(b"first\nsecond\n"))


def test_each_part_of_a_command_is_its_own_though_another_came_and_went(project: Tracker) -> None:
    file = project.worktree / "file"
    of_first: list[FileChange] = []
    of_second: list[FileChange] = []
    first = project.begin(of_first.extend)
    file.write_bytes(b"a\n")
    second = project.begin(of_second.extend)
    (project.worktree / "other").write_bytes(b"x\n")
    project.end(second)
    (others,) = of_second
    assert others.origin == FileChange.Origin.OVERLAP
    file.write_bytes(b"b\n")
    assert others.path == "other"
    project.end(first)
    steps = [(change.before, change.after) for change in of_first]
    assert steps == [(object_id(BEFORE), object_id(b"a\n")), (object_id(b"a\n"), object_id(b"b\n"))]


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(n, marks=pytest.mark.long) for n in range(3, 60))]
)
def test_each_entry_goes_on_from_the_one_before_whatever_is_done_at_once(project: Tracker, seed: int) -> None:
    work = Work(project)
    with ThreadPoolExecutor(4) as pool:
        threads = [pool.submit(work.some, random.Random(f"{seed} {thread}")) for thread in range(4)]
    for thread in threads:
        thread.result()
    for path in Work.PATHS:
        known = ""
        for row in (row for row in work.ledger if row.path == path):
            assert row.before == known, f"an entry of {path} does not go on from the one before"
            known = row.after
        left = project.worktree / path
        assert known == (object_id(left.read_bytes()) if left.exists() else "")


class Work:
    """Commands and edits of a few files. No two write at once: each content comes from one of them."""

    PATHS = ("a", "b", "folder/c")

    def __init__(self, project: Tracker) -> None:
        self.ledger: list[FileChange] = []
        self._project = project
        self._one = threading.Lock()
        self._numbers = count()

    def some(self, chance: random.Random) -> None:
        for _ in range(6):
            chance.choice([self._command, self._edit])(chance)

    def _command(self, chance: random.Random) -> None:
        running = self._project.begin(self.ledger.extend)
        for _ in range(chance.randint(0, 3)):
            file = self._project.worktree / chance.choice(self.PATHS)
            with self._one:
                if file.exists() and chance.random() < 0.2:
                    file.unlink()
                else:
                    self._write(file)
        self._project.end(running)

    def _edit(self, chance: random.Random) -> None:
        path = chance.choice(self.PATHS)
        file = self._project.worktree / path
        after: dict[str, str | None] = {}

        def write() -> None:
            before = object_id(file.read_bytes()) if file.exists() else ""
            entry = FileChange(path=path, before=before, after=self._write(file))
            after[path] = entry.after
            self.ledger.append(entry)

        with self._one:
            self._project.writing(after, write)

    def _write(self, file: Path) -> str:
        file.parent.mkdir(exist_ok=True)
        content = f"{next(self._numbers)}\n".encode()
        file.write_bytes(content)
        return object_id(content)


def edit(project: Tracker) -> None:
    def write() -> None:
        (project.worktree / "file").write_bytes(EDITED)

    project.writing({"file": object_id(EDITED)}, write)
