"""The few ASGI words that the guard speaks (ASGI 3.0), and small complete responses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

MAX_FORM = 8 * 1024
"""Bytes of a form that the guard reads itself."""


class TooLarge(Exception):
    """A body was longer than it may be."""


async def respond(
    send: Send, status: int, body: str, kind: str = "text/plain", headers: Iterable[tuple[bytes, bytes]] = ()
) -> None:
    """Send a whole response; `kind` is the media type without its charset."""
    data = body.encode()
    fields = [
        (b"content-type", f"{kind}; charset=utf-8".encode()),
        (b"content-length", str(len(data)).encode()),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": fields})
    await send({"type": "http.response.body", "body": data})


async def redirect(send: Send, location: str, cookie: str = "") -> None:
    """303: the browser goes on with GET and the address before is not kept."""
    headers = [(b"location", location.encode("ascii"))]
    if cookie:
        headers.append((b"set-cookie", cookie.encode("ascii")))
    await respond(send, 303, "", headers=headers)


async def read_body(receive: Receive, limit: int = MAX_FORM) -> bytes:
    """The whole request body. Raise TooLarge beyond `limit` bytes."""
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > limit:
            raise TooLarge
        if not message.get("more_body"):
            return bytes(body)


def replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives a body which was read already, and then what comes after it."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again
