"""Find the server to talk to, or start one."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import signal
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

import httpx

from opencode_web.bridge.remote.client import USERNAME, Address, address
from opencode_web.bridge.remote.errors import RemoteError
from opencode_web.itself import ITSELF
from sessions.core import holding, paths, variables
from sessions.core.holding import PRIVATE

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


DEFAULT_URL = "http://127.0.0.1:4096"
PROBE_SECONDS = 5.0

Found = Literal["answers", "refuses", "silent"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """`named` is the server the user has named; without one the default address is looked at.
    With `holds` that is the server that has our data folder, and no other is started beside it.

    `command` is what starts a server; none stands for our own. With `start` false none is started.
    """

    named: Address | None
    default: Address
    directory: str | None = None
    command: tuple[str, ...] = ()
    start: bool = True
    holds: bool = False


def wanted(
    environ: Mapping[str, str], url: str | None = None, directory: str | None = None, *, start: bool = True
) -> Wanted:
    """What the environment and the command line ask for. Raises ValueError for an address that is none."""
    username = variables.USERNAME.read(environ)
    password = variables.PASSWORD.read(environ)
    named = url or variables.BASE_URL.read(environ)
    holder = holding.server(paths.data_directory(environ))
    return Wanted(
        address(named, username, password or _own(named)) if named else None,
        Address(holder or DEFAULT_URL, username, password or paths.secret(environ)),
        directory,
        tuple(shlex.split(variables.COMMAND.read(environ))),
        start and variables.AUTO_SERVE.read(environ).lower() not in ("0", "false", "no"),
        bool(holder),
    )


def _own(url: str) -> str:
    """Our own secret, for a server on this machine: it is not sent anywhere else."""
    return paths.secret() if address(url).here else ""


async def probe(where: Address) -> Found:
    """Whether a server that speaks the protocol is there, and takes our credentials."""
    auth = httpx.BasicAuth(where.username, where.password) if where.password else None
    try:
        async with httpx.AsyncClient(auth=auth, trust_env=False, timeout=PROBE_SECONDS) as http:
            response = await http.get(f"{where.url}/global/health")
        if response.status_code in (401, 403):
            return "refuses"
        return "answers" if response.is_success and response.json().get("healthy") else "silent"
    except (httpx.RequestError, ValueError, AttributeError):
        return "silent"


class Launcher:
    """The one child it has started is ended by `close`."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.child: Child | None = None

    async def find(self) -> Address:
        """A server that answers, started if need be. Raises RemoteError."""
        named = self.wanted.named
        where = named or self.wanted.default
        found = await probe(where)
        if found == "answers":
            return where
        if (named or self.wanted.holds) and found == "refuses":
            raise RemoteError("auth", f"The server at {where.url} refuses the password.", sent=False)
        if not named and self.wanted.holds:
            words = f"The server at {where.url} has the data folder and does not answer."
            raise RemoteError("unreachable", words, sent=False)
        if not self.wanted.start or (named and not named.here):
            raise RemoteError("unreachable", f"No server answers at {where.url}.", sent=False)
        return await self._start()

    async def close(self) -> None:
        child, self.child = self.child, None
        if child is not None:
            await child.end()

    async def _start(self) -> Address:
        await self.close()
        where = Address(f"http://127.0.0.1:{_free_port()}", USERNAME, secrets.token_urlsafe(32))
        port = where.url.rpartition(":")[2]
        environ = {
            **os.environ,
            variables.USERNAME.name: where.username,
            variables.PASSWORD.name: where.password,
            PRIVATE: "1",
            variables.BASE_PATH.name: "",
        }
        if self.wanted.command:
            command = [*self.wanted.command, "--hostname", "127.0.0.1", "--port", port]
            self.child = await Child.start(command, environ, self.wanted.directory)
        else:
            command = [*ITSELF, "serve", "--port", port]
            self.child = await Child.start([*command, *filter(None, [self.wanted.directory])], environ)
        try:
            await self.child.ready(lambda: _answers(where))
        except BaseException:
            await self.close()
            raise
        return where


async def _answers(where: Address) -> bool:
    return await probe(where) == "answers"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
