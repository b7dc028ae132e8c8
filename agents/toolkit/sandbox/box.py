"""A sandbox that lasts: its mounts and its loopback are made once, and a session's programs share them."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from agents.toolkit.sandbox import box_process, bubblewrap
from agents.toolkit.sandbox.network import Call, Calls
from agents.toolkit.sandbox.policy import Policy
from agents.toolkit.sandbox.ports import Ports
from agents.toolkit.sandbox.proxy import Proxy
from agents.toolkit.shared.process import CannotStart

IDLE_SECONDS = 30.0
"""How long it waits for the next program."""
OPEN_SECONDS = 20.0
_CREDENTIALS = struct.Struct("3i")
LOOK_SECONDS = 1.0
"""How long after each other it is looked which ports programs listen on."""
_ANSWER = 64 * 1024
_KILLED = -9
_ENDED = "the sandbox has ended"


class CannotOpen(Exception):
    """There is no sandbox; the text is what the system said."""


class Program:
    """A program that was started in it, as `process.run` wants one. `pid` is that of its supervisor, which
    all of the program is below."""

    def __init__(self, talk: socket.socket, over: Callable[[], None]) -> None:
        self.pid = 0
        self._talk = talk
        self._over = over
        self._read = b""
        self._is_over = False
        self._loop = asyncio.get_running_loop()
        self._started: asyncio.Future[None] = self._loop.create_future()
        self._code: asyncio.Future[int] = self._loop.create_future()
        self._loop.add_reader(talk, self._readable)

    async def start(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        """Raises CannotStart."""
        asked = json.dumps({"argv": list(argv), "cwd": str(cwd), "env": dict(env)}).encode()
        with suppress(ConnectionError):  # its end is told by `_readable`
            await self._loop.sock_sendall(self._talk, len(asked).to_bytes(4, "big") + asked)
        await self._started

    async def wait(self) -> int:
        """Its exit code, negative for a signal. What it left in the background may go on."""
        return await asyncio.shield(self._code)

    def _readable(self) -> None:
        data, about, *_ = self._talk.recvmsg(4096, socket.CMSG_SPACE(_CREDENTIALS.size))
        for level, kind, value in about:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                self.pid = self.pid or _CREDENTIALS.unpack(value)[0]  # as it is called out here
        *lines, self._read = (self._read + data).split(b"\n")
        for line in lines:
            self._told(json.loads(line))
        if not data:
            self._loop.remove_reader(self._talk)
            self._talk.close()
            self._told({"failed": _ENDED, "code": _KILLED, "over": True})

    def _told(self, words: Mapping[str, Any]) -> None:
        if not self._started.done() and "failed" in words:
            self._started.set_exception(CannotStart(words["failed"]))
        elif not self._started.done():
            self._started.set_result(None)
        if "code" in words and not self._code.done():
            self._code.set_result(words["code"])
        if words.get("over") and not self._is_over:
            self._is_over = True
            self._over()


class Box:
    """Of one event loop. `over` is called once nothing of it lives any more."""

    def __init__(
        self,
        around: Policy,
        over: Callable[[Box], None],
        changed: Callable[[Box], None],
        *,
        network: bool = False,
    ) -> None:
        """`network`: its programs reach the network, each as its call is permitted to. `changed`: others of
        its ports are shown."""
        self.calls = Calls()
        self.port = 0
        self._own_ports: set[int] = set()
        self._network = network
        self._proxy: asyncio.Server | None = None
        self.around = around
        self._over = over
        self._seal = _seal(around)
        self.ports = Ports(self._socket, lambda: changed(self))
        self._asking = asyncio.Lock()
        self._told = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None
        self._running = 0
        self._closing: asyncio.TimerHandle | None = None
        self._resting = False
        self._control: socket.socket | None = None
        self._following: asyncio.Task[None] | None = None

    async def open(self, standing: Sequence[Path], empty: Path) -> None:
        """Raises CannotOpen."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        with theirs:
            inside = [sys.executable, "-I", "-S", "-c", _code(), str(theirs.fileno())]
            try:
                process = await asyncio.create_subprocess_exec(
                    *bubblewrap.wrapped(inside, self.around, standing, empty),
                    env={"PATH": os.environ.get("PATH", os.defpath)},
                    stdin=DEVNULL,
                    stdout=DEVNULL,
                    stderr=PIPE,
                    start_new_session=True,
                    pass_fds=[theirs.fileno()],
                )
            except BaseException as error:
                ours.close()
                self._over(self)
                if isinstance(error, OSError):
                    raise CannotOpen(str(error)) from error
                raise
        self._control = ours
        said: list[str] = []
        self._following = asyncio.create_task(self._follow(process, said))
        begun = b""
        try:
            with suppress(TimeoutError, ConnectionError):
                async with asyncio.timeout(OPEN_SECONDS):
                    begun = await asyncio.get_running_loop().sock_recv(ours, 64)
        finally:
            if begun != box_process.READY:
                self.close()
        if begun != box_process.READY:
            await self._following
            raise CannotOpen("".join(said).strip()[-300:] or "it said nothing")
        if self._network:
            self.port, self._proxy = await self._served(ours, Proxy(self.calls.permit))
        self._closing = self._later()

    async def _served(self, control: socket.socket, proxy: Proxy) -> tuple[int, asyncio.Server]:
        """On a socket of the loopback in there, by this port. Raises ConnectionError."""
        told, (place,) = await self._asked(control, box_process.LISTEN)
        port = int(told)
        self._own_ports.add(port)
        return port, await asyncio.start_server(proxy.serve, sock=socket.socket(fileno=place))

    @asynccontextmanager
    async def way(self, call: Call) -> AsyncIterator[int]:
        """A port of the loopback in there by which one call gets out, also where it cannot say its name; 0
        where there is no network. Raises ConnectionError."""
        if not self._network:
            yield 0
            return
        if self._control is None:
            raise ConnectionError(_ENDED)
        port, server = await self._served(self._control, Proxy(lambda _, where: call.permit(where)))
        try:
            yield port
        finally:
            server.close()
            self._own_ports.discard(port)

    async def _asked(self, control: socket.socket, message: bytes) -> tuple[bytes, list[int]]:
        """What the first process answers, and the descriptors that come with it. Raises ConnectionError."""
        loop = asyncio.get_running_loop()
        async with self._asking:
            self._told.clear()
            await loop.sock_sendall(control, message)
            loop.add_reader(control, self._told.set)
            await self._told.wait()
            if self._control is not control:
                raise ConnectionError(_ENDED)
            loop.remove_reader(control)
            answer, places, *_ = socket.recv_fds(control, _ANSWER, 1, socket.MSG_CMSG_CLOEXEC)
        if not answer:
            raise ConnectionError(_ENDED)
        return answer, places

    async def _socket(self, family: socket.AddressFamily) -> socket.socket:
        """One of its network. Raises ConnectionError."""
        if self._control is None:
            raise ConnectionError(_ENDED)
        _, (place,) = await self._asked(self._control, box_process.SOCKET[family])
        return socket.socket(fileno=place)

    async def _look(self) -> None:
        """See which ports are listened on, as long as programs run."""
        while self._running and self._control is not None:
            await asyncio.sleep(LOOK_SECONDS)
            with suppress(ConnectionError):
                if self._control is not None:
                    answer, _ = await self._asked(self._control, box_process.PORTS)
                    found = [(port, socket.AddressFamily(family)) for port, family in json.loads(answer)]
                    self.ports.seen(one for one in found if one[0] not in self._own_ports)
        self.ports.seen(())

    def holds(self, around: Policy, *, network: bool = False) -> bool:
        """Whether it is still there, and around the very files that it is to be around: a file that was
        replaced has left its mount."""
        same = self._network == network and self.around == around
        return self._control is not None and same and self._seal == _seal(around)

    async def start(self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], output: int) -> Program:
        """Raises CannotStart."""
        if self._control is None:
            raise CannotStart(_ENDED)
        self._stay()
        self._resting = False
        self._running += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        program = Program(ours, self._left)
        with theirs, suppress(ConnectionError):  # where it has ended, the program is told that it has
            socket.send_fds(self._control, [box_process.RUN], [theirs.fileno(), output])
        await program.start(argv, cwd, env)
        return program

    def rest(self) -> bool:
        """End with the last program that runs in it, unless another one is started first. Whether it ends
        now."""
        self._resting = True
        if not self._running:
            self.close()
        return not self._running

    def close(self) -> None:
        """End all that runs in it."""
        self._stay()
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control)
            self._control.close()
            self._control = None
            self._told.set()
            self.ports.seen(())
        if self._proxy is not None:
            self._proxy.close()
            self._proxy = None

    async def ended(self) -> None:
        """Until nothing of it lives any more."""
        if self._following is not None:  # what failed in it (a full disk) keeps no turn from its end
            await asyncio.wait({self._following})

    async def _follow(self, process: asyncio.subprocess.Process, said: list[str]) -> None:
        assert process.stderr is not None
        said.append((await process.stderr.read()).decode("utf-8", "replace"))
        await process.wait()
        self.close()
        self._over(self)

    def _left(self) -> None:
        """A program has ended, with all that it started."""
        self._running -= 1
        if self._resting:
            self.rest()
        elif not self._running and self._control is not None:
            self._closing = self._later()

    def _later(self) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(IDLE_SECONDS, self.close)

    def _stay(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            self._closing = None


@cache
def _code() -> str:
    return Path(box_process.__file__).read_text()


def _seal(around: Policy) -> tuple[tuple[int, int] | None, ...]:
    """Which files they are that mounts are made of."""
    return tuple(map(_identity, (*around.workspace, *around.held, *around.hidden)))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.lstat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
