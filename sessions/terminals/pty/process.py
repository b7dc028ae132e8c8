"""A child process on a pseudo terminal (pty(7)) in a session of its own, and the end of that session."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import struct
import sys
import termios
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sessions.platform.processes import processes

from . import launch

GRACE_SECONDS = 0.5
"""Between SIGHUP and SIGKILL."""
_LOOK_SECONDS = 0.02
_MAX_LOOKS = 20
_IUTF8 = 0o40000
"""termios(3); `termios` has no name for it yet. A backspace erases a character, not a byte."""


async def start(argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> tuple[Process, int]:
    """The child and the master side of its terminal, which does not block. Raises OSError and ValueError."""
    master, slave = os.openpty()
    try:
        os.set_blocking(master, False)
        attributes = termios.tcgetattr(slave)
        attributes[0] |= _IUTF8
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        resize(master, 24, 80)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", launch.__file__, *argv),
            cwd=cwd,
            env=env,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
    except BaseException:
        os.close(master)
        raise
    finally:
        os.close(slave)
    return process, master


def resize(master: int, rows: int, columns: int) -> None:
    """Set the size in cells; the program in the foreground is told by SIGWINCH."""
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


async def end_session(leader: int) -> None:
    """End every process of a terminal's session, also stopped and background ones: SIGHUP, then SIGKILL.

    Call it while the leader runs or right after its end: later its number may be a stranger's.
    """
    loop = asyncio.get_running_loop()
    patience = loop.time() + GRACE_SECONDS
    members = await asyncio.to_thread(_members, leader)
    _send(members, signal.SIGHUP)
    _send(members, signal.SIGCONT)
    while members and loop.time() < patience:
        await asyncio.sleep(_LOOK_SECONDS)
        members = await asyncio.to_thread(_members, leader)
    for _ in range(_MAX_LOOKS):
        if not members:
            break
        _send(members, signal.SIGKILL)
        await asyncio.sleep(_LOOK_SECONDS)
        members = await asyncio.to_thread(_members, leader)


def _members(leader: int) -> set[int]:
    """The processes of a session that still run; where none can be seen, the leader's own process group."""
    if table := processes():
        return {each.pid for each in table.values() if each.session == leader}
    try:
        os.killpg(leader, 0)
    except OSError:
        return set()
    return {-leader}


def _send(processes: set[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)
