"""A server of our own: a process that is started when none is there and ended with us."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from opencode_web.remote.errors import RemoteError

START_SECONDS = 60.0
POLL_SECONDS = 0.05
GRACE_SECONDS = 3.0
"""From SIGTERM to SIGKILL. An MCP client gives us 4 s in all."""
AFTER_SECONDS = 1.0
KEPT_LINES = 20


class Child:
    """The process leads a group of its own: a program that is a wrapper of another one is ended with it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self._said: deque[str] = deque(maxlen=KEPT_LINES)
        self._listener = asyncio.create_task(self._listen())

    @classmethod
    async def start(
        cls, command: Sequence[str], environ: Mapping[str, str], directory: str | None = None
    ) -> Child:
        """Raises RemoteError when there is no such program."""
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                env=dict(environ),
                cwd=directory,
                stdin=asyncio.subprocess.DEVNULL,
                # Our own standard output belongs to a protocol, and a server's may hold a launch link.
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise RemoteError("unreachable", f"{command[0]} cannot be started: {error.strerror}") from error
        return cls(process)

    @property
    def pid(self) -> int:
        return self.process.pid

    async def ready(self, answers: Callable[[], Awaitable[bool]]) -> None:
        """Return when it answers. Raises RemoteError when it ends before, or takes more than 60 s."""
        try:
            async with asyncio.timeout(START_SECONDS):
                while not await answers():
                    if self.process.returncode is not None:
                        await self._listener
                        raise RemoteError("unreachable", f"The server ended as it started: {self._last}")
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError as error:
            raise RemoteError(
                "unreachable", f"The server did not come up in {START_SECONDS:.0f} s."
            ) from error

    async def end(self) -> None:
        """SIGTERM, and SIGKILL for what is left of the group after a while."""
        self._signal(signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE_SECONDS):
                await self.process.wait()
                await self._alone()
        self._signal(signal.SIGKILL)
        await self.process.wait()
        self._listener.cancel()

    async def _alone(self) -> None:
        """Wait for those who outlive the leader of the group: a wrapper is often the first to go."""
        with suppress(TimeoutError, ProcessLookupError):
            async with asyncio.timeout(AFTER_SECONDS):
                while True:
                    os.killpg(self.pid, 0)
                    await asyncio.sleep(POLL_SECONDS)

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    async def _listen(self) -> None:
        """Its errors are read, so that the pipe never fills, and the last of them kept."""
        assert self.process.stderr is not None
        while line := await self.process.stderr.read(4096):
            self._said.extend(line.decode(errors="replace").splitlines())

    @property
    def _last(self) -> str:
        return " / ".join(line.strip() for line in self._said if line.strip()) or "it said nothing"
