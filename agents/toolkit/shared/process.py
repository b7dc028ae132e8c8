"""Running a child with live output, and ending it with everything it started."""

from __future__ import annotations

import asyncio
import os
import signal
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol

from agents.toolkit.children.tree import MARK, Tree
from agents.toolkit.children.warden import warden
from sessions.core.platform.peers import commands
from sessions.core.store.leases import confirmed

CHUNK = 64 * 1024
GRACE_SECONDS = 0.2
"""Between SIGTERM and SIGKILL; and how long output may stay silent after the child ended."""
MAX_DRAIN_SECONDS = 2.0
_REAP_SECONDS = 2.0
_LOOK_SECONDS = 0.02
"""A pause keeps what is left as it is, however little."""
_MEASURE_SECONDS = 0.25
"""Between two looks at what a child uses."""


class CannotStart(Exception):
    """The child never ran; the text says why."""


class Child(Protocol):
    """What was started. All of it is of the session (setsid(2)) of the process `pid`, or below that."""

    @property
    def pid(self) -> int: ...

    async def wait(self) -> int:
        """Until it has ended; its exit code, negative for a signal."""
        ...


Start = Callable[[Sequence[str], Path, Mapping[str, str], int], Awaitable[Child]]
"""Starts a command line in a folder, with an environment; stdout and stderr go to a descriptor. Raises
CannotStart, OSError or ValueError."""


async def spawned(argv: Sequence[str], cwd: Path, env: Mapping[str, str], output: int) -> Child:
    return await asyncio.create_subprocess_exec(
        *argv,
        cwd=cwd,
        env=env,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )


class Pauses:
    """The seconds that are no part of a child's time: a person is waited for."""

    def __init__(self) -> None:
        self._waits = 0
        self._since = 0.0
        self._before = 0.0

    @property
    def seconds(self) -> float:
        """Until now."""
        return self._before + (time.monotonic() - self._since if self._waits else 0.0)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Those that overlap count once."""
        if not self._waits:
            self._since = time.monotonic()
        self._waits += 1
        try:
            yield
        finally:
            before = self.seconds
            self._waits -= 1
            if not self._waits:
                self._before = before


@dataclass(frozen=True, slots=True)
class Budget:
    """What a child may use with all that it started: bytes of memory, seconds of processors; None is no
    limit."""

    memory: int | None = None
    processor: float | None = None


NO_BUDGET = Budget()
Overrun = Literal["memory", "processor"]
"""The part of a budget that was used up."""
Ending = Literal["exited", "timeout", "aborted"] | Overrun


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended; `exit_code` is negative for a signal, None when it never started."""

    ending: Ending
    exit_code: int | None
    unwritten: tuple[str, ...] = ()
    """Paths that the sandbox did not let it write."""
    refused: tuple[str, ...] = ()
    """Hosts that the sandbox kept it from."""
    sandbox: str = ""
    """The mode of the sandbox that it ran in; empty for none."""


async def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,  # noqa: ASYNC109 - the caller must learn how it ended, so cancelling is not enough
    abort: asyncio.Event,
    on_output: Callable[[bytes], Awaitable[None]],
    start: Start = spawned,
    pauses: Pauses | None = None,
    budget: Budget = NO_BUDGET,
) -> Ended:
    """Run `argv` in a session of its own; stdout and stderr go merged to `on_output` as they come.

    After `timeout` seconds (`pauses` are none of them), over `budget`, on `abort`, and when this coroutine is
    cancelled, the child and all its descendants end. When the child ends by itself, a background child of it
    lives on but is neither listened to nor measured any more. Raises CannotStart; what `on_output`
    raises ends the tree and goes up.
    """
    if abort.is_set():
        return Ended("aborted", None)
    await confirmed()
    mark = uuid.uuid4().hex
    environ = {**env, MARK: mark, **commands().variable}
    with commands().starting() as leads:
        process, output = await _start(start, argv, cwd, environ)
        leads(process.pid)
    tree = Tree(process.pid, mark)
    warden.watch(process.pid, mark)
    exited = asyncio.create_task(process.wait())
    reading = asyncio.create_task(_pump(output, on_output))
    aborted = asyncio.create_task(abort.wait())
    overrun = asyncio.create_task(_overrun(Tree(process.pid, mark), budget))
    try:
        ending = await _ending(exited, aborted, reading, overrun, timeout, pauses or Pauses())
        if ending != "exited":
            await _end_tree(tree, {exited, reading})
        await _drain(reading, output)
        await asyncio.wait({exited}, timeout=_REAP_SECONDS)
        # A child of another user (sudo) may not be ours to kill, so this is not waited for without end.
        output.leave()
        return Ended(ending, exited.result() if exited.done() else None)
    except BaseException:
        tree.kill()
        await asyncio.wait({exited}, timeout=_REAP_SECONDS)
        output.close()
        raise
    finally:
        aborted.cancel()
        overrun.cancel()
        reading.cancel()
        warden.forget(process.pid)


async def _ending(
    exited: asyncio.Task[int],
    aborted: asyncio.Task[Literal[True]],
    reading: asyncio.Task[None],
    overrun: asyncio.Task[Overrun],
    timeout: float,  # noqa: ASYNC109
    pauses: Pauses,
) -> Ending:
    end = asyncio.get_running_loop().time() + timeout
    waiting: set[asyncio.Future[Any]] = {exited, aborted, reading, overrun}
    while not exited.done() and not aborted.done():
        if overrun.done():
            return overrun.result()
        left = end + pauses.seconds - asyncio.get_running_loop().time()
        if left <= 0:
            return "timeout"
        done, waiting = await asyncio.wait(
            waiting, timeout=max(left, _LOOK_SECONDS), return_when=asyncio.FIRST_COMPLETED
        )
        if reading in done:
            reading.result()  # a reader that failed would let the child hang on a full pipe
    return "exited" if exited.done() else "aborted"


async def _overrun(tree: Tree, budget: Budget) -> Overrun:
    """Once a budget is used up. Looking takes a twentieth of one processor at most."""
    if budget == NO_BUDGET:
        await asyncio.Event().wait()
    clock, took = asyncio.get_running_loop().time, 0.0
    while True:
        await asyncio.sleep(max(_MEASURE_SECONDS, 20 * took))
        before = clock()
        if (found := await asyncio.to_thread(_used_up, tree, budget)) is not None:
            return found
        took = clock() - before


def _used_up(tree: Tree, budget: Budget) -> Overrun | None:
    """What is shared is divided only where it matters: that takes longer. Blocks."""
    held = tree.memory() or 0
    if budget.memory is not None and held > budget.memory and tree.own_memory() > budget.memory:
        return "memory"
    if budget.processor is not None and tree.processor_seconds() > budget.processor:
        return "processor"
    return None


class _Output:
    """The reading end of the pipe the child writes to.

    Not asyncio's own stdout pipe: waiting for a child would then also wait for its background children.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.reader = asyncio.StreamReader(limit=CHUNK)
        self.file = file
        self.transport: asyncio.ReadTransport | None = None
        self.chunks = 0

    async def connect(self) -> None:
        loop = asyncio.get_running_loop()
        self.transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self.reader), self.file
        )

    def leave(self) -> None:
        """Throw away what a background child writes from now on: it would end by a pipe that is closed."""
        if self.transport is not None and not self.transport.is_closing():
            self.transport.set_protocol(asyncio.Protocol())
            self.transport.resume_reading()

    def close(self) -> None:
        if self.transport:
            self.transport.close()
        else:
            self.file.close()


async def _start(
    start: Start, argv: Sequence[str], cwd: Path, env: Mapping[str, str]
) -> tuple[Child, _Output]:
    read_end, write_end = os.pipe()
    output = _Output(os.fdopen(read_end, "rb", buffering=0))
    try:
        await output.connect()
        process = await start(argv, cwd, env, write_end)
    except BaseException as error:
        output.close()
        if isinstance(error, OSError | ValueError):
            raise CannotStart(str(error)) from error
        raise
    finally:
        os.close(write_end)
    return process, output


async def _pump(output: _Output, on_output: Callable[[bytes], Awaitable[None]]) -> None:
    while chunk := await output.reader.read(CHUNK):
        output.chunks += 1
        await on_output(chunk)


async def _drain(reading: asyncio.Task[None], output: _Output) -> None:
    """Take what is still in the pipe, without waiting for a background child that keeps it open."""
    loop = asyncio.get_running_loop()
    end = loop.time() + MAX_DRAIN_SECONDS
    seen = -1
    while not reading.done() and output.chunks != seen and loop.time() < end:
        seen = output.chunks
        await asyncio.wait({reading}, timeout=GRACE_SECONDS)
    if reading.done():
        reading.result()


async def _end_tree(tree: Tree, tasks: set[asyncio.Task[int] | asyncio.Task[None]]) -> None:
    """SIGTERM to all, a moment to end (the child has exited and nobody holds its output), then SIGKILL."""
    tree.freeze()
    tree.signal(signal.SIGTERM)
    tree.signal(signal.SIGCONT)
    await asyncio.wait(tasks, timeout=GRACE_SECONDS)
    tree.kill()
