"""One terminal: a process, what it has printed, and who reads along.

All of it runs on the event loop it was started on; nothing here blocks.
"""

from __future__ import annotations

import asyncio
import codecs
import os
from asyncio.subprocess import Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sessions.terminals.shapes import Pty

from . import process
from .backlog import Backlog

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
        self._process, self._master = await process.start(argv, self.cwd, env)
        self._set_reading(True)

    def resize(self, rows: int, columns: int) -> None:
        if not self.finished.is_set():
            process.resize(self._master, rows, columns)

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
            await asyncio.wait_for(self._hung_up.wait(), _PATIENCE_SECONDS)
        await process.end_session(self.pid)
        self._close()
        self.exit_code = code if code >= 0 else 128 - code
        return self.exit_code

    async def end(self) -> None:
        """Hang up: whatever runs in the terminal ends, `run` returns."""
        if self._process is not None and self._process.returncode is None:
            await process.end_session(self.pid)
        with suppress(TimeoutError):
            await asyncio.wait_for(self.finished.wait(), _PATIENCE_SECONDS)
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
