"""Processes as Linux sees them: memory and processor time of a tree, and its end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
GRACE_SECONDS = 10


def tree(pid: int) -> list[int]:
    """A process and everything under it, parents first; empty when it has ended."""
    found = []
    with suppress(OSError):
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        found.append(pid)
        for task in tasks:
            with suppress(OSError):
                for child in (task / "children").read_text().split():
                    found += tree(int(child))
    return found


def memory(pid: int) -> float:
    """Megabytes (10⁶) of the tree: proportional set size where readable, else resident set size."""
    return sum(_memory(each) for each in tree(pid)) / 1000


def _memory(pid: int) -> int:
    """Kilobytes (10³) of one process, 0 when it has ended."""
    for file, field in (("smaps_rollup", "Pss"), ("status", "VmRSS")):
        with suppress(OSError):
            if match := re.search(rf"^{field}:\s+(\d+) kB", Path(f"/proc/{pid}/{file}").read_text(), re.M):
                return int(match[1]) * 1024 // 1000
    return 0


def cpu(pid: int) -> float:
    """Seconds of processor time of the tree, children that ended and were waited for included."""
    total = 0
    for each in tree(pid):
        with suppress(OSError):
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            total += sum(int(field) for field in fields[11:15])
    return total / TICKS_PER_SECOND


def end(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, ten seconds of grace, then SIGKILL; whatever is left of its tree is killed too."""
    pids = tree(process.pid)
    process.terminate()
    try:
        process.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pid in pids[1:]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
