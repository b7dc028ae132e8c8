"""A small process that outlives this program by a moment: whatever ends the program, also `kill -9`, ends the
process trees that it was told of. It imports little: it is there for as long as the program.

It reads lines from its standard input: `+PID MARK` for a tree to end (`tree.py`; without a mark its session),
`-PID` for one that has ended by itself. The end of the input is the end of the program.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterable

from agents.toolkit.children.tree import Tree

GRACE_SECONDS = 0.5


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    trees = _told(sys.stdin)
    if trees:
        for tree in trees:
            tree.freeze()  # so that all are known before the first of them ends
        for tree in trees:
            tree.signal(signal.SIGTERM)
            tree.signal(signal.SIGCONT)
        time.sleep(GRACE_SECONDS)
        for tree in trees:
            tree.kill()


def _told(lines: Iterable[str]) -> list[Tree]:
    """What is left to be ended when nothing more is said."""
    trees: dict[int, Tree] = {}
    for line in lines:
        pid, _, mark = line[1:].strip().partition(" ")
        if line[0] == "+":
            trees[int(pid)] = Tree(int(pid), mark)
        else:
            trees.pop(int(pid), None)
    return list(trees.values())
