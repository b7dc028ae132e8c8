"""Run an ASGI application under daphne until a signal ends it.

Source: dependencies.md, "daphne + worker in one process". Importing this module installs Twisted's
asyncio reactor, so it has to happen before anything else imports a reactor.
"""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import daphne.server  # type: ignore[import-untyped]  # noqa: F401 (installs the reactor: before the next line)
from twisted.internet import defer, reactor

from opencode_web import logs
from opencode_web.bounds import Server
from opencode_web.shutdown import Hook, shut_down

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
        return defer.Deferred.fromFuture(loop.create_task(shut_down(on_shutdown)))

    tasks: list[asyncio.Task[None]] = []
    interface = address.replace(":", r"\:")
    server = Server(
        application,
        endpoints=[f"{'tcp6' if ':' in address else 'tcp'}:port={port}:interface={interface}"],
        action_logger=logs.log_access,
        websocket_max_message_size=MAX_MESSAGE,
        websocket_max_frame_size=MAX_MESSAGE,
        websocket_timeout=-1,
        ready_callable=ready,
        server_name="opencode-web",
    )
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
