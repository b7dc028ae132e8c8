"""daphne's server with bounds on what a request may bring and on what waits for a reader that stands still.

Without them a body of any size is stored before anybody asks who sent it, a form is in memory twice, and a
stream to a client that stands still grows in memory.
"""

from __future__ import annotations

import asyncio
from typing import Any

import daphne.server  # type: ignore[import-untyped]
from daphne.http_protocol import HTTPFactory, WebRequest  # type: ignore[import-untyped]

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


daphne.server.HTTPFactory = _Factory  # `Server.run` takes it from there and offers no other way


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
