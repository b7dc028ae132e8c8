"""The one page that is shown without a login: a shared transcript, to whoever has the secret in its address
(docs/decisions/0015). Only its reading, and only by addresses of exactly this form."""

from __future__ import annotations

import re

from opencode_web.security.asgi import Message, Send
from opencode_web.security.request import Request
from opencode_web.security.throttle import Throttle

_PATH = re.compile(r"/s/[A-Za-z0-9_-]{43}")
"""256 bits in URL-safe text (RFC 4648 §5)."""


def is_shared_page(request: Request) -> bool:
    reads = not request.is_websocket and request.method in ("GET", "HEAD")
    return reads and _PATH.fullmatch(request.path) is not None


def counted(send: Send, throttle: Throttle, client: str) -> Send:
    """A `send` that counts an address that opens nothing as a failed try."""

    async def counting(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 404:
            throttle.fail(client)
        await send(message)

    return counting
