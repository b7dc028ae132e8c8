"""Become a program whose controlling terminal is the one on standard input.

A script: `launch.py PROGRAM ARGUMENT…`

A thread's fork may run no Python in a process with other threads, so what has to happen between setsid(2) and
exec(2) happens in a process of its own, which the program then replaces under the same id.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import termios

NOT_STARTED = 127
"""The exit code of a shell for a command that it cannot run."""


def main(program: str, *arguments: str) -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, for itself
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvp(program, [program, *arguments])  # noqa: S606 (argv, no shell line)
    except OSError as error:
        sys.stderr.write(f"{program}: {error.strerror}\n")
        sys.exit(NOT_STARTED)


if __name__ == "__main__":
    main(*sys.argv[1:])
