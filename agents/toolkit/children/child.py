"""A program that runs beside this one and is talked to over its standard input and output."""

from __future__ import annotations

import asyncio
import signal
import uuid
from asyncio.subprocess import SubprocessStreamProtocol
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path

from agents.toolkit.children.tree import MARK, Tree
from agents.toolkit.children.warden import warden
from sessions.core.sentences import Sentence

# The last lines of what a program said, for people to read.

MAX_LINES = 400
MAX_LINE = 2000


class Tail:
    """Bounded, however much comes. One thread writes, any may read."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=MAX_LINES)
        self._open = b""
        self.dropped = 0
        """Lines that are gone."""

    def feed(self, data: bytes) -> None:
        """Bytes as they come, in pieces of any size."""
        *whole, rest = (self._open + data).split(b"\n")
        for line in whole:
            self.say(line.decode("utf-8", "replace"))
        self._open = rest[:MAX_LINE]

    def say(self, line: str) -> None:
        """A line of our own, or of the program's."""
        self.dropped += len(self._lines) == MAX_LINES
        self._lines.append(line.rstrip("\r")[:MAX_LINE])

    def lines(self) -> list[str]:
        rest = [self._open.decode("utf-8", "replace")] if self._open else []
        return [*self._lines, *rest]

    def last(self, count: int = 5) -> str:
        """The last lines that are not blank, as one text."""
        return "\n".join([line for line in self.lines() if line.strip()][-count:])


CHUNK = 64 * 1024
END_SECONDS = 1.0
"""For a program to end by itself when its input has ended, and again after SIGTERM."""
LAST_WORDS_SECONDS = 0.5
"""For what a program that was killed has said on stderr, and for the system to tell of its end."""


class CannotStart(Exception):
    """The program never ran; the text says why."""


class Child:
    """Use it on the loop that started it. `errors` has what it said on stderr, `input` and `output` are its
    standard streams; reading a line of more than `limit` bytes from `output` raises."""

    def __init__(
        self, transport: asyncio.SubprocessTransport, process: asyncio.subprocess.Process, mark: str
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.process = process
        self._transport = transport
        self.input = process.stdin
        self.output = process.stdout
        self.errors = Tail()
        self._tree = Tree(process.pid, mark)
        self._listening = asyncio.create_task(self._listen(process.stderr))
        warden.watch(process.pid, mark)

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: int = CHUNK
    ) -> Child:
        """In a process group of its own. Raises CannotStart."""
        if not argv:
            raise CannotStart("no command is given")
        mark = uuid.uuid4().hex
        loop = asyncio.get_running_loop()
        try:
            # As create_subprocess_exec does, which does not give the transport: only that closes the pipes.
            transport, protocol = await loop.subprocess_exec(
                lambda: SubprocessStreamProtocol(limit=limit, loop=loop),
                *argv,
                cwd=cwd,
                env={**env, MARK: mark},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise CannotStart(f"{error.filename} is not there") from error
        except (OSError, ValueError) as error:
            raise CannotStart(f"{argv[0]}: {error}") from error
        return cls(transport, asyncio.subprocess.Process(transport, protocol, loop), mark)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    async def wait(self) -> str:
        """Until the program ends; how it ended, in words."""
        return describe(await self.process.wait())

    async def silent(self, within: float) -> None:
        """Until nothing more comes on its stderr, at most so many seconds: what it has started may keep that
        open."""
        await asyncio.wait({self._listening}, timeout=within)

    def memory(self) -> int | None:
        """Bytes of the program and all that it started; None where it cannot be seen. Blocks."""
        return self._tree.memory()

    async def end(self, grace: float = END_SECONDS) -> None:
        """Ask it to end by ending its input, then by SIGTERM, `grace` seconds each; then SIGKILL to it and
        all that it started. Its last words are in `errors` then, and its output is closed."""
        try:
            self.input.close()
            if not await self._gone(grace):
                self._tree.signal(signal.SIGTERM)
                await self._gone(grace)
        finally:
            # In a thread, and to its end whatever happens here: it looks at all processes.
            killing = asyncio.ensure_future(asyncio.to_thread(self._tree.kill))
            killing.add_done_callback(lambda _: warden.forget(self.pid))
            try:
                await asyncio.shield(killing)
            finally:
                await self._closed()

    async def _closed(self) -> None:
        """Its pipes; not even what is left of it, or did not read its input, keeps them open."""
        try:
            await self.silent(LAST_WORDS_SECONDS)
        finally:
            for number in range(3):
                pipe = self._transport.get_pipe_transport(number)
                if isinstance(pipe, asyncio.ReadTransport):
                    pipe.close()
                elif isinstance(pipe, asyncio.WriteTransport) and pipe.get_write_buffer_size():
                    pipe.abort()
        await asyncio.wait({self._listening})
        await self._gone(LAST_WORDS_SECONDS)

    async def _gone(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):  # wait_for of Python 3.11 may swallow a cancellation
                await self.process.wait()
        except TimeoutError:
            return False
        return True

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        while data := await stream.read(CHUNK):
            self.errors.feed(data)


def describe(code: int) -> str:
    """A return code in words."""
    if code >= 0:
        return Sentence("exited with code %(code)s", code=code)
    try:
        return Sentence("ended by %(signal)s", signal=signal.Signals(-code).name)
    except ValueError:
        return Sentence("ended by signal %(signal)s", signal=-code)
