"""The processes of this machine, as psutil sees them on Linux and macOS.

psutil takes 20 ms to import: not before somebody asks.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Process:
    """`session` is the number of its session leader (setsid(2)), 0 where that is not told."""

    pid: int
    parent: int
    session: int


@cache
def boot() -> str:
    """Tells this start of the machine from others; empty where the system does not."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip().replace("-", "")[:12]
    except OSError:
        return ""


def visible() -> bool:
    """Whether processes can be looked at here: not where /proc is hidden."""
    import psutil

    try:
        psutil.Process().ppid()
    except (psutil.Error, OSError):
        return False
    return True


def processes() -> dict[int, Process]:
    """Those that run, zombies left out, by their number; none where they are not `visible`. It blocks."""
    import psutil

    if not visible():
        return {}
    return {
        each.pid: Process(each.pid, each.info["ppid"] or 0, _session(each.pid))
        for each in psutil.process_iter(["ppid", "status"])
        if each.info["status"] != psutil.STATUS_ZOMBIE
    }


def variable(pid: int, name: str) -> str | None:
    """A variable of the environment a process was started with; None where it cannot be read. It blocks."""
    import psutil

    with suppress(psutil.Error, OSError):
        return psutil.Process(pid).environ().get(name)
    return None


def memory(pid: int) -> int | None:
    """Bytes a process holds, what it shares with others included; None where it cannot be read. It blocks."""
    import psutil

    with suppress(psutil.Error, OSError):
        return psutil.Process(pid).memory_info().rss
    return None


def own_memory(pid: int) -> int | None:
    """The same with what it shares divided among those that share it, where the system tells; slower."""
    import psutil

    with suppress(psutil.Error, OSError):
        told = psutil.Process(pid).memory_full_info()
        return int(getattr(told, "pss", told.rss))
    return memory(pid)  # of another user (sudo) no more is told


def processor_seconds(pid: int) -> float:
    """What a process has used, with its children that have ended; 0 where it cannot be read. It blocks."""
    import psutil

    with suppress(psutil.Error, OSError):
        return sum(psutil.Process(pid).cpu_times()[:4])
    return 0.0


def _session(pid: int) -> int:
    with suppress(OSError):
        return os.getsid(pid)
    return 0


def holders(file: Path, name: str, folder: Path) -> list[str]:
    """The running programs that have a file open, and those of that name at work in a folder: command line
    and number of each. Takes a moment; those that may not be looked at are left out."""
    import psutil

    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            works = process.name() == name and Path(process.cwd()).is_relative_to(folder)
            if works or any(Path(opened.path) == file for opened in process.open_files()):
                found.append(f"{' '.join(process.cmdline())[:120]} (process {process.pid})")
    return found
