"""The commands that the analyser reports, compared with what a real bash runs."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from agents.permission.shell import ShellAnalysis, analyse
from sessions.wire.patterns import matches
from tests.agents.permission.grammar import Lines

# Nothing is found in PATH, so bash hands each command to this function, which notes its name.
HANDLER = 'command_not_found_handle() { printf "%s\\0" "$1" >> "$BASH_TRACE_LOG"; }\n'
SECONDS = 5


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    (tmp_path / "handler").write_text(HANDLER)
    (tmp_path / "up" / "project").mkdir(parents=True)
    return tmp_path


def executed(line: str, scratch: Path) -> set[str]:
    """The names of the commands that bash runs, or tries to."""
    log = scratch / "log"
    log.unlink(missing_ok=True)
    process = subprocess.Popen(
        ["/bin/bash", "--norc", "-c", line],
        cwd=scratch / "up" / "project",
        env={
            "PATH": str(scratch / "nowhere"),
            "HOME": str(scratch),
            "BASH_ENV": str(scratch / "handler"),
            "BASH_TRACE_LOG": str(log),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return set(log.read_bytes().decode(errors="replace").split("\0")) - {""} if log.exists() else set()


def reported(name: str, analysis: ShellAnalysis) -> bool:
    """Whether the analysis has a command of that name, or one whose name only the shell knows."""
    return analysis.errors or any(
        command.hidden or name in command.words[:1] or matches((command.shape or "").split(" ", 1)[0], name)
        for command in analysis.commands
    )


def compare(seed: int, count: int, scratch: Path) -> tuple[list[str], int]:
    """Lines that ran what was not reported, and how many of all were understood."""
    lines = Lines(seed)
    project = scratch / "up" / "project"
    faults: list[str] = []
    understood = 0
    for _ in range(count):
        line = lines.next()
        if "\0" in line:
            continue
        analysis = analyse(line, project, project)
        understood += not analysis.errors
        if analysis.errors:
            continue
        missed = {name for name in executed(line, scratch) if not reported(name, analysis)}
        faults += [f"{line!r} ran {sorted(missed)}"] if missed else []
    return faults, understood


def test_what_runs_was_reported(scratch: Path) -> None:
    faults, understood = compare(1, 600, scratch)
    assert faults == []
    assert understood > 60, "a gate that asks about everything proves nothing"


@pytest.mark.long
def test_what_runs_of_thousands_of_lines_was_reported(scratch: Path) -> None:
    faults, understood = compare(2, int(os.environ.get("TRACED_LINES", "6000")), scratch)
    assert faults == []
    assert understood > 600
