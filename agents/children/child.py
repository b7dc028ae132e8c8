"""A program that runs beside this one and is talked to over its standard input and output."""

from __future__ import annotations

import asyncio
import signal
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path

from agents.children.tail import Tail
from agents.children.tree import MARK, Tree
from agents.children.warden import warden

CHUNK = 64 * 1024
END_SECONDS = 1.0
"""For a program to end by itself when its input has ended, and again after SIGTERM."""


class CannotStart(Exception):
    """The program never ran; the text says why."""


class Child:
    """Use it on the loop that started it. `errors` has what it said on stderr, `input` and `output` are its
    standard streams; reading a line of more than `limit` bytes from `output` raises."""

    def __init__(self, process: asyncio.subprocess.Process, mark: str) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.process = process
        self.input = process.stdin
        self.output = process.stdout
        self.errors = Tail()
        self._tree = Tree(process.pid, mark)
        self._listening = asyncio.create_task(self._listen(process.stderr))
        warden.watch(process.pid)

    @classmethod
    async def start(
        cls, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: int = CHUNK
    ) -> Child:
        """In a process group of its own. Raises CannotStart."""
        if not argv:
            raise CannotStart("no command is given")
        mark = uuid.uuid4().hex
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                cwd=cwd,
                env={**env, MARK: mark},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                limit=limit,
            )
        except FileNotFoundError as error:
            raise CannotStart(f"{error.filename} is not there") from error
        except (OSError, ValueError) as error:
            raise CannotStart(f"{argv[0]}: {error}") from error
        return cls(process, mark)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    async def wait(self) -> str:
        """Until the program ends; how it ended, in words."""
        return describe(await self.process.wait())

    def memory(self) -> int | None:
        """Bytes of the program and all that it started; None where it cannot be seen. Blocks."""
        return self._tree.memory()

    async def end(self, grace: float = END_SECONDS) -> None:
        """Ask it to end by ending its input, then by SIGTERM, `grace` seconds each; then SIGKILL to it and
        all that it started."""
        try:
            self.input.close()
            if not await self._gone(grace):
                await asyncio.to_thread(self._tree.signal, signal.SIGTERM)
                await self._gone(grace)
        finally:
            self._tree.kill()
            self._listening.cancel()
            warden.forget(self.pid)
        await self._gone(grace)

    async def _gone(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self.process.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _listen(self, stream: asyncio.StreamReader) -> None:
        while data := await stream.read(CHUNK):
            self.errors.feed(data)


def describe(code: int) -> str:
    """A return code in words."""
    if code >= 0:
        return f"exited with code {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"
