"""Run an ASGI application under daphne until a signal ends it.

With bounds on what a request may bring and on what waits for a reader that stands still: without them a body
of any size is stored before anybody asks who sent it, a form is in memory twice, and a stream to one that
stands still grows in memory.

Importing this module installs Twisted's asyncio reactor, so it has to happen before anything else imports a
reactor.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import cached_property
from typing import Any

from opencode_web.site import lean  # noqa: F401  # installs the reactor: first

# isort: split
import daphne.server  # type: ignore[import-untyped]
from daphne.http_protocol import HTTPFactory, WebRequest  # type: ignore[import-untyped]
from twisted.internet import defer, reactor
from twisted.internet.error import CannotListenError

from opencode_web.site import logs
from opencode_web.site.security.asgi import Application, Receive, Scope, Send, respond
from opencode_web.site.shutdown import Hook, shut_down

MAX_BODY = 32 * 1024 * 1024
"""Bytes of a request; the images of a prompt have to fit."""
PATIENCE = 30.0
"""Seconds in which a client has to take what is on its way before it gets more."""
_LONGEST_LOOK = 0.25


class _Request(WebRequest):  # type: ignore[misc]
    """Passes over what is too much of a body, so that the client is there to hear of it: 413."""

    _room = MAX_BODY

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # Twisted would read every form into memory once more, for nobody.
        super().__init__(*arguments, parsePOSTFormSubmission=False, **options)

    def handleContentChunk(self, data: bytes) -> None:  # noqa: N802 (Twisted's name)
        self._room -= len(data)
        if self._room >= 0:
            super().handleContentChunk(data)

    def process(self) -> Any:
        if self._room >= 0:
            return super().process()
        self.setResponseCode(413)
        self.finish()
        return None


class _Factory(HTTPFactory):  # type: ignore[misc]
    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802
        protocol = super().buildProtocol(addr)
        protocol.requestFactory = _Request
        return protocol


class FirstAsked:
    """The factory of WebSockets, imported and made when there is one."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self._arguments, self._named = arguments, named
        self._options: dict[str, Any] = {}

    def setProtocolOptions(self, **options: Any) -> None:  # noqa: N802 (autobahn's name)
        self._options = options

    def buildProtocol(self, addr: Any) -> Any:  # noqa: N802
        return self._factory.buildProtocol(addr)

    @cached_property
    def _factory(self) -> Any:
        from opencode_web.site.sockets import Factory

        factory = Factory(*self._arguments, **self._named)
        factory.setProtocolOptions(**self._options)
        return factory


# `Server.run` takes them from there and offers no other way.
daphne.server.HTTPFactory = _Factory
daphne.server.WebSocketFactory = FirstAsked


class Server(daphne.server.Server):  # type: ignore[misc]
    """An application that sends waits while its client is behind; who takes nothing is cut off."""

    def create_application(self, protocol: Any, scope: Any) -> Any:
        """`connection` of a scope is a dictionary that all requests of one connection share."""
        transport = getattr(protocol, "channel", protocol).transport
        scope["connection"] = transport.__dict__.setdefault("opencode_web", {})
        return super().create_application(protocol, scope)

    async def handle_reply(self, protocol: Any, message: Any) -> None:
        await self._room(protocol)
        await super().handle_reply(protocol, message)

    async def _room(self, protocol: Any) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        wait = 0.0
        while self._is_behind(protocol):
            if loop.time() > end:
                protocol.transport.abortConnection()
                return
            await asyncio.sleep(wait)
            wait = min(_LONGEST_LOOK, 2 * wait or 0.001)

    def _is_behind(self, protocol: Any) -> bool:
        """Whether the connection is open and holds more than 64 KiB (Twisted's) not taken yet."""
        entry = self.connections.get(protocol)
        transport = getattr(protocol, "transport", None)
        return bool(
            entry
            and "disconnected" not in entry
            and transport
            and getattr(transport, "producerPaused", False)
        )


MAX_MESSAGE = 16 * 1024 * 1024
"""Bytes of one WebSocket message: a pasted image has to fit."""


class PortTaken(Exception):
    """The address cannot be listened on; the text says why."""


def find_port(address: str, port: int, tries: int = 1) -> int:
    """The first free port of `tries` from `port` on; with port 0 any. Raise PortTaken if there is none."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for candidate in range(port, port + tries):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, candidate))
            except OSError as error:
                reason = error.strerror or str(error)
            else:
                return int(probe.getsockname()[1])
    raise PortTaken(f"cannot listen on {address}, port {port}: {reason}")


def resolve(hostname: str) -> str:
    """The numeric address of a host name. Raise PortTaken when there is none."""
    try:
        return str(socket.getaddrinfo(hostname, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise PortTaken(f"{hostname!r} is no address of this machine: {error.strerror}") from error


_running: list[Server] = []
_apart: dict[int, Application] = {}


def listen(make: Callable[[int], Application], address: str) -> tuple[int, Callable[[], None]]:
    """Serve another application on a free port of a numeric address, while the server runs: `make` is told
    the port. Gives that, and what ends it. Call it on the server's loop. Raise PortTaken."""
    twisted: Any = reactor
    try:
        listening = twisted.listenTCP(0, _running[0].http_factory, interface=address)
    except CannotListenError as error:
        raise PortTaken(f"cannot listen on {address}: {error.socketError}") from error
    port = int(listening.getHost().port)
    _apart[port] = make(port)

    def end() -> None:
        _apart.pop(port, None)
        listening.stopListening()

    return port, end


def _by_port(application: Application, own: int) -> Application:
    """What is served on the server's own port, on another what `listen` began there."""

    async def chosen(scope: Scope, receive: Receive, send: Send) -> None:
        port = int(scope["server"][1])
        await (application if port == own else _apart.get(port, _nobody))(scope, receive, send)

    return chosen


async def _nobody(scope: Scope, receive: Receive, send: Send) -> None:
    """For a connection that outlives what was served there."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close"})
    else:
        await respond(send, 421, "Nothing is served here any more.")


def serve(application: Any, address: str, port: int, *, on_ready: Hook, on_shutdown: Hook) -> None:
    """Serve until SIGINT or SIGTERM; call from the main thread, once per process.

    `on_ready` runs on the event loop when requests are answered; when it fails the server stops. Then
    `on_shutdown` is awaited for at most 4 s. Raise PortTaken if the port was taken meanwhile, and what
    `on_ready` raised.
    """
    running: Any = reactor
    loop: asyncio.AbstractEventLoop = running._asyncioEventloop
    failure: list[BaseException] = []

    async def start() -> None:
        try:
            await on_ready()
        except Exception as error:
            failure.append(error)
            server.stop()

    def ready() -> None:
        running.addSystemEventTrigger("before", "shutdown", stop)
        tasks.append(loop.create_task(start()))

    def stop() -> Any:
        for task in tasks:
            task.cancel()  # what has not begun by now shall not
        return defer.Deferred.fromFuture(loop.create_task(shut_down(on_shutdown)))

    tasks: list[asyncio.Task[None]] = []
    interface = address.replace(":", r"\:")
    server = Server(
        _by_port(application, port),
        endpoints=[f"{'tcp6' if ':' in address else 'tcp'}:port={port}:interface={interface}"],
        action_logger=logs.log_access,
        websocket_max_message_size=MAX_MESSAGE,
        websocket_max_frame_size=MAX_MESSAGE,
        websocket_timeout=-1,
        ready_callable=ready,
        server_name="opencode-web",
    )
    _running[:] = [server]
    server.run()
    _cancel_tasks(loop)
    if failure:
        raise failure[0]
    if not server.listening_addresses:
        raise PortTaken(f"cannot listen on {address}, port {port}")


def _cancel_tasks(loop: asyncio.AbstractEventLoop) -> None:
    """Requests and sockets that still wait clean up; left to the interpreter's end they may crash it."""
    if tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
