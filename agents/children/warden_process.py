"""A small process that outlives this program by a moment: whatever ends the program, also `kill -9`, ends the
process groups that it was told of. Run by path with nothing but the standard library.

It reads lines from its standard input: `+PID` for a group to end, `-PID` for one that has ended by itself.
The end of the input is the end of the program.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time

GRACE_SECONDS = 0.5


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: set[int] = set()
    for line in sys.stdin:
        sign, pid = line[0], int(line[1:])
        if sign == "+":
            groups.add(pid)
        else:
            groups.discard(pid)
    if groups:
        _end(groups, signal.SIGTERM)
        time.sleep(GRACE_SECONDS)
        _end(groups, signal.SIGKILL)


def _end(groups: set[int], number: signal.Signals) -> None:
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


if __name__ == "__main__":
    main()
