"""The commands that the analyser reports, compared with what a real bash runs."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from agents.toolkit.permission.shell import ShellAnalysis, analyse
from sessions.core.wire.patterns import matches
from tests.agents.toolkit.permission.grammar import Lines

# What is not found in PATH is noted by this function, which every bash has from BASH_ENV.
HANDLER = 'command_not_found_handle() {{ printf "%s\\0" "$1" >> {log}; }}\n'
STUB = '#!/bin/sh\nprintf "%s\\0" "${{0##*/}}" >> {log}\n'
REAL = ("bash", "env", "find", "nice", "nohup", "sh", "timeout", "xargs")
SECONDS = 5


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    laid_out(tmp_path)
    return tmp_path


def laid_out(scratch: Path) -> None:
    """A project, and a folder of programs that note their names beside the real ones that run others."""
    (scratch / "handler").write_text(HANDLER.format(log=scratch / "log"))
    (scratch / "up" / "project").mkdir(parents=True)
    programs = scratch / "programs"
    programs.mkdir()
    for number in range(10):
        (programs / f"c{number}").write_text(STUB.format(log=scratch / "log"))
        (programs / f"c{number}").chmod(0o700)
    for name in REAL:
        (programs / name).symlink_to(shutil.which(name) or f"/usr/bin/{name}")


def executed(line: str, scratch: Path) -> set[str]:
    """The names of the commands that bash runs, or tries to."""
    log = scratch / "log"
    log.unlink(missing_ok=True)
    process = subprocess.Popen(
        ["/bin/bash", "--norc", "-c", line],
        cwd=scratch / "up" / "project",
        env={
            "PATH": str(scratch / "programs"),
            "HOME": str(scratch),
            "BASH_ENV": str(scratch / "handler"),
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
    faults, understood = compare(2, int(os.environ.get("TRACED_LINES", "4000")), scratch)
    assert faults == []
    assert understood > 600
