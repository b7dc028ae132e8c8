"""A child and everything that it started: to be ended, or measured."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MARK = "OPENCODE_WEB_CALL"
"""The variable of the environment by which a child's descendants are known."""
_MAX_LOOKS = 20


class Tree:
    """A child and everything it started, also what left its process group or lost its parent.

    Found by session, and by descent and by a mark in the environment unless that is "". Where there is no
    /proc, the process group has to do.
    """

    def __init__(self, root: int, mark: str) -> None:
        self.root = root
        self.mark = mark
        self.members: set[int] = set()

    def freeze(self) -> None:
        """Stop every member, until none is found that could have forked since the last look."""
        stopped: set[int] = set()
        for _ in range(_MAX_LOOKS):
            self._look()
            if self.members <= stopped:
                break
            _send(self.members - stopped, signal.SIGSTOP)
            stopped |= self.members

    def signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.root, number)
        _send(self.members, number)

    def kill(self) -> None:
        self.freeze()
        self.signal(signal.SIGKILL)

    def memory(self) -> int | None:
        """Bytes that all members hold, what they share counted for each; None where there is no /proc. It
        blocks."""
        self._look()
        pages = [held for pid in self.members if (held := _resident(pid)) is not None]
        return sum(pages) * os.sysconf("SC_PAGE_SIZE") if pages else None

    def _look(self) -> None:
        table = dict(_processes())
        marked = {pid for pid, (_, session) in table.items() if session == self.root or self._is_marked(pid)}
        # What has ended is forgotten: its number may be given to a stranger.
        self.members = (self.members | marked) & table.keys()
        while self.mark and (
            children := {pid for pid, (parent, _) in table.items() if parent in self.members} - self.members
        ):
            self.members |= children

    def _is_marked(self, pid: int) -> bool:
        if self.mark:
            with suppress(OSError):
                return f"{MARK}={self.mark}".encode() in Path(f"/proc/{pid}/environ").read_bytes()
        return False


def _send(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _resident(pid: int) -> int | None:
    """Pages, as in proc(5)."""
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/statm").read_bytes().split()[1])
    return None


def _processes() -> Iterator[tuple[int, tuple[int, int]]]:
    """(pid, (parent, session)) of each process, as in proc(5)."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):
            # The name before the last parenthesis may hold blanks.
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            yield int(folder.name), (int(fields[1]), int(fields[3]))
