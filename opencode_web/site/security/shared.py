"""What is there without a login, for whoever has the secret in its address.

Only its reading: a shared transcript (docs/decisions/0015), by addresses of exactly this form; and the page
that an authorization server sends a browser back to (RFC 6749 §4.1.2), which comes from another site and so
without our cookie: the secret is the `state` of a sign-in that a person has begun here, which works once
(agents/servers/mcp/oauth). The address by which another program calls a schedule (docs/decisions/0065) is
posted to, and is not for a page of another site nor for a command of the agent.
"""

from __future__ import annotations

import re

from opencode_web.site.security.asgi import Message, Send
from opencode_web.site.security.request import Request
from opencode_web.site.security.throttle import Throttle

_PATH = re.compile(r"/s/[A-Za-z0-9_-]{43}")
"""256 bits in URL-safe text (RFC 4648 §5)."""
_HOOK = re.compile(r"/hook/[A-Za-z0-9_-]{43}")
MOST_CALLED = 256 * 1024
"""Bytes of what an address is sent that calls a schedule."""
_CALLBACK = "/mcp/oauth/callback"


def is_shared_page(request: Request) -> bool:
    reads = not request.is_websocket and request.method in ("GET", "HEAD")
    return reads and (request.path == _CALLBACK or _PATH.fullmatch(request.path) is not None)


def is_hook(request: Request) -> bool:
    return request.method == "POST" and _HOOK.fullmatch(request.path) is not None


def count_misses(send: Send, throttle: Throttle, client: str) -> Send:
    """A `send` that counts an address that opens nothing as a failed try, and answers it late if it must."""

    async def counting(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 404:
            await throttle.fail(client)
        await send(message)

    return counting
