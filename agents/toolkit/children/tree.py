"""A child and everything that it started: to be ended, or measured."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from sessions.core import variables
from sessions.core.platform.processes import (
    memory,
    own_memory,
    processes,
    processor_seconds,
    variable,
)

MARK = variables.CALL.name
"""The variable of the environment by which a child's descendants are known."""
_MAX_LOOKS = 20


class Tree:
    """A child and everything it started, also what left its process group or lost its parent.

    Found by session, and by descent and by a mark in the environment unless that is "". Where no process can
    be seen, the process group has to do.
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
        """Bytes that all members hold, what they share counted for each; None where none can be seen. It
        blocks."""
        self._look()
        sizes = [held for pid in self.members if (held := memory(pid)) is not None]
        return sum(sizes) if sizes else None

    def own_memory(self) -> int:
        """The same of the members that were found last, what they share counted once, where that is told."""
        return sum(own_memory(pid) or 0 for pid in self.members)

    def processor_seconds(self) -> float:
        """What the members that were found last have used. It blocks."""
        return sum(map(processor_seconds, self.members))

    def _look(self) -> None:
        table = processes()
        marked = {
            each.pid
            for each in table.values()
            if each.session == self.root or (self.mark and variable(each.pid, MARK) == self.mark)
        }
        # What has ended is forgotten: its number may be given to a stranger.
        self.members = (self.members | marked) & table.keys()
        while self.mark and (
            children := {each.pid for each in table.values() if each.parent in self.members} - self.members
        ):
            self.members |= children


def _send(pids: set[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
