"""Whether a process runs, also where /proc is hidden; what this one holds open."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import psutil


def alive(pid: int) -> bool:
    """A zombie has ended, where that can be seen."""
    with suppress(psutil.Error, OSError):
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path("/proc/self").exists()


def noted(file: Path) -> bool:
    """Whether the process runs whose number a shell has written to a file."""
    return alive(int(file.read_text()))


def held() -> set[tuple[str, str]]:
    """What this process holds open: each number, and what it leads to."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):
            found.add((name, os.readlink(f"/proc/self/fd/{name}")))
    return found
