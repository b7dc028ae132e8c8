"""One terminal: a process, what it has printed, and who reads along.

All of it runs on the event loop it was started on; nothing here blocks.
"""

from __future__ import annotations

import asyncio
import codecs
import fcntl
import os
import signal
import struct
import sys
import termios
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from sessions.core.platform.processes import processes
from sessions.terminals import launch
from sessions.terminals.shapes import Pty

PIECE = 64 * 1024
"""Code units that are given at once."""


class Reader:
    """Use as `with Reader(terminal, position) as reader`.

    Without a position it begins at the oldest that is kept, with one behind the end at the end.
    """

    def __init__(self, terminal: Terminal, position: int | None) -> None:
        end = terminal.backlog.end
        self._terminal = terminal
        self.position = 0 if position is None else min(position, end)
        self._replayed = end

    def __enter__(self) -> Self:
        self._terminal.positions[self] = self.position
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self._terminal.positions[self]
        self._terminal.pace()

    def replay(self) -> Iterator[str]:
        """What was printed before this reader came."""
        while self.position < self._replayed:
            yield self._take()

    async def follow(self) -> AsyncIterator[tuple[str, bool]]:
        """What is printed from now on until the end, and whether something before it was missed."""
        backlog = self._terminal.backlog
        while True:
            while self.position < backlog.end:
                missed = self.position < backlog.start
                yield self._take(), missed
            if self._terminal.finished.is_set():
                return
            await self._terminal.changed()

    def _take(self) -> str:
        """What is asked for next has been handed on, so the one before counts as read."""
        self._terminal.positions[self] = self.position
        self._terminal.pace()
        text, self.position = self._terminal.backlog.read(self.position, PIECE)
        return text

    @property
    def behind(self) -> bool:
        """Whether a whole piece waits."""
        return self._terminal.backlog.end - self.position >= PIECE


# What a terminal has printed lately: a bounded text with absolute positions.
#
# Positions count UTF-16 code units from the terminal's first one on, since clients add up the lengths of
# JavaScript strings.

LIMIT = 1024 * 1024
"""Code units that are kept: 2 MiB."""
_SIZE = 2
"""Bytes of one."""


class Backlog:
    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._units = bytearray()
        self.start = 0
        """The position of the oldest unit that is kept."""

    @property
    def end(self) -> int:
        return self.start + len(self._units) // _SIZE

    def append(self, text: str) -> None:
        """Add what was printed; the oldest goes when there is too much."""
        self._units += text.encode("utf-16-le", "replace")
        excess = self.end - self.start - self._limit
        if excess > 0:
            excess += self._splits(excess)
            del self._units[: excess * _SIZE]
            self.start += excess

    def read(self, position: int, most: int) -> tuple[str, int]:
        """At most `most` units from a position on, and the position after them; from the oldest kept when
        the position is older. A pair of surrogates is not split."""
        begin = max(position, self.start) - self.start
        end = min(begin + max(most, _SIZE), len(self._units) // _SIZE)
        end -= self._splits(end)
        units = self._units[begin * _SIZE : end * _SIZE]
        return units.decode("utf-16-le", "replace"), self.start + max(begin, end)

    def _splits(self, at: int) -> bool:
        """Whether the unit at a place is the second of a pair."""
        high = self._units[at * _SIZE + 1 : at * _SIZE + 2]
        return bool(high) and 0xDC <= high[0] <= 0xDF


_CHUNK = 64 * 1024
"""Bytes of one read."""
AHEAD = 256 * 1024
"""Code units that the program may be ahead of its quickest reader before it has to wait."""
_PATIENCE_SECONDS = 0.5
"""How long output is still read when the program has ended; and how long its end is waited for."""


@dataclass(eq=False)
class Terminal:
    """`directory` is the folder of the request that made it: who asks about another one does not see it."""

    id: str
    project_id: str
    directory: Path
    title: str
    command: str
    arguments: list[str]
    cwd: Path
    exit_code: int | None = None
    backlog: Backlog = field(default_factory=Backlog)
    positions: dict[object, int] = field(default_factory=dict)
    """How far each reader is."""
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nothing more will be printed."""
    _news: asyncio.Event = field(default_factory=asyncio.Event)
    _hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    _typing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _process: Process | None = None
    _master: int = -1
    _reading: bool = False
    _ended: bool = False

    def __post_init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._loop = asyncio.get_running_loop()

    @property
    def pid(self) -> int:
        """0 until it was started."""
        return self._process.pid if self._process else 0

    @property
    def info(self) -> Pty:
        return Pty(
            id=self.id,
            title=self.title,
            command=self.command,
            args=self.arguments,
            cwd=str(self.cwd),
            status="running" if self.exit_code is None else "exited",
            pid=self.pid,
            exit_code=self.exit_code,
        )

    async def start(self, env: Mapping[str, str]) -> None:
        """Raises OSError and ValueError."""
        argv = [self.command, *self.arguments]
        self._process, self._master = await start(argv, self.cwd, env)
        self._set_reading(True)

    def resize(self, rows: int, columns: int) -> None:
        if not self.finished.is_set():
            resize(self._master, rows, columns)

    async def write(self, data: bytes) -> None:
        """Type; returns when the terminal has taken it all, or has ended."""
        async with self._typing:
            while data and not self.finished.is_set():
                try:
                    data = data[os.write(self._master, data) :]
                except BlockingIOError:
                    await self._room()
                except OSError:  # hung up: nobody will read it
                    return

    async def run(self) -> int:
        """Wait for the program's end and end what it left behind; the exit code as a shell has it."""
        assert self._process is not None, "not started"
        code = await self._process.wait()
        self._ended = True
        self.pace()
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self._hung_up.wait()
        await end_session(self.pid)
        self._close()
        self.exit_code = code if code >= 0 else 128 - code
        return self.exit_code

    async def end(self) -> None:
        """Hang up: whatever runs in the terminal ends, `run` returns."""
        if self._process is not None and self._process.returncode is None:
            await end_session(self.pid)
        with suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_SECONDS):
                await self.finished.wait()
        self._close()  # the kernel hangs up on what is not ours to end (sudo)

    async def changed(self) -> None:
        """Return when something was printed or the terminal has ended since the last look."""
        await self._news.wait()

    def pace(self) -> None:
        """Let the program print as long as its quickest reader follows, or nobody reads.

        So a slow reader holds up nobody: it misses what is no longer kept. And who reads quickly misses
        nothing.
        """
        behind = self.backlog.end - max(self.positions.values(), default=self.backlog.end)
        self._set_reading(not self._hung_up.is_set() and (self._ended or behind < AHEAD))

    def _set_reading(self, wanted: bool) -> None:
        if wanted == self._reading or self._master < 0:
            return
        self._reading = wanted
        if wanted:
            self._loop.add_reader(self._master, self._read)
        else:
            self._loop.remove_reader(self._master)

    def _read(self) -> None:
        try:
            data = os.read(self._master, _CHUNK)
        except BlockingIOError:
            return
        except OSError:  # EIO: nobody has the other side open any more
            data = b""
        self.backlog.append(self._decoder.decode(data, final=not data))
        if not data:
            self._set_reading(False)
            self._hung_up.set()
        else:
            self.pace()
        self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _room(self) -> None:
        """Return when the terminal takes input, or has ended."""
        ready = asyncio.Event()
        self._loop.add_writer(self._master, ready.set)
        ended = asyncio.create_task(self.finished.wait())
        waiting = asyncio.create_task(ready.wait())
        try:
            await asyncio.wait({ended, waiting}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            ended.cancel()
            waiting.cancel()
            if self._master >= 0:
                self._loop.remove_writer(self._master)

    def _close(self) -> None:
        if self._master < 0:
            return
        self._set_reading(False)
        self._loop.remove_writer(self._master)
        os.close(self._master)
        self._master = -1
        self.finished.set()
        self._tell()


# A child process on a pseudo terminal (pty(7)) in a session of its own, and the end of that session.

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
