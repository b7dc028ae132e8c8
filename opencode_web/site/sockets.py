"""daphne's WebSockets, a fifth of its import: with the first one (`FirstAsked` of server.py)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from opencode_web.site.without import without

with without("OpenSSL"):
    from autobahn.exception import Disconnected
    from daphne.ws_protocol import WebSocketFactory, WebSocketProtocol  # type: ignore[import-untyped]


class Socket(WebSocketProtocol):  # type: ignore[misc]
    def serverSend(self, content: Any, binary: bool = False) -> None:  # noqa: N802 (daphne's name)
        with suppress(Disconnected):  # its going is told to the application by itself
            super().serverSend(content, binary)


class Factory(WebSocketFactory):  # type: ignore[misc]
    protocol = Socket
