"""Run an ASGI application under daphne until a signal ends it.

Source: dependencies.md, "daphne + worker in one process". Importing this module installs Twisted's
asyncio reactor, so it has to happen before anything else imports a reactor.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Awaitable, Callable
from typing import Any

from daphne.server import Server  # type: ignore[import-untyped]
from twisted.internet import defer, reactor

from opencode_web import logs

logger = logging.getLogger(__name__)

SHUTDOWN_SECONDS = 4.0
"""What `on_shutdown` may take; half a second later the process ends, whatever still runs."""
_GRACE_SECONDS = 0.5
MAX_MESSAGE = 16 * 1024 * 1024
"""Bytes of one WebSocket message: a pasted image has to fit."""

Hook = Callable[[], Awaitable[None]]


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
        _end_process_later()
        return defer.Deferred.fromFuture(loop.create_task(_within_limit(on_shutdown)))

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
    if failure:
        raise failure[0]
    if not server.listening_addresses:
        raise PortTaken(f"cannot listen on {address}, port {port}")


async def _within_limit(hook: Hook) -> None:
    try:
        await asyncio.wait_for(hook(), SHUTDOWN_SECONDS)
    except TimeoutError:
        logger.error("the shutdown took more than %.0f s and was cut short", SHUTDOWN_SECONDS)
    except Exception:
        logger.exception("the shutdown failed")


def _end_process_later() -> None:
    """A thread that no library waits for cannot be joined at exit; so the end does not depend on it."""

    def end() -> None:
        logger.error("ended with work still running")
        logging.shutdown()
        os._exit(1)

    timer = threading.Timer(SHUTDOWN_SECONDS + _GRACE_SECONDS, end)
    timer.daemon = True
    timer.start()
