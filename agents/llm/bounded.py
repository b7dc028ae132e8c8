"""Bodies of HTTP answers from anywhere: at most so many bytes once they are unpacked, one coding at most.

httpx unpacks a whole chunk for each coding that an answer names, before anybody can count: 3 KB become
gigabytes. What is here takes that over, for httpx and for httpx2, which are alike; `pieces` is for any body.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from agents.llm import tls

if TYPE_CHECKING:
    import httpx

PIECE = 64 * 1024
"""Bytes that are unpacked at once."""
_REDIRECT = 64 * 1024
"""Bytes of the body of a redirect, which nobody reads."""
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_GZIP = 31  # zlib's window bits for it

Failure = Callable[[str], Exception]
"""What is raised, from words for people such as "sent an answer of more than 5 MB"."""


def client(most: int | None, failure: Failure | None = None, **options: Any) -> httpx.AsyncClient:
    """A client of httpx that is bound: it trusts whom every way out trusts, and goes by the environment's
    proxies, but never by one to loopback."""
    import httpx  # 70 ms: not before the first request

    direct: dict[str, None] = dict.fromkeys(f"all://{host}" for host in _LOOPBACK)
    made = httpx.AsyncClient(mounts=direct, verify=tls.context(), **options)
    bound(made, most, failure)
    return made


def bound(client: Any, most: int | None, failure: Failure | None = None) -> None:
    """Hold every answer of an `AsyncClient` to `most` bytes; None for a stream, which may go on.

    `failure` is the library's DecodingError where it is not given.
    """

    async def answered(response: Any) -> None:
        hold(response, most, failure)

    client.headers["accept-encoding"] = "gzip"
    client.event_hooks = {**client.event_hooks, "response": [*client.event_hooks["response"], answered]}


def hold(response: Any, most: int | None, failure: Failure | None = None) -> None:
    """The same for one response whose body was not looked at."""
    library = sys.modules[type(response).__module__.partition(".")[0]]
    failure = failure or library.DecodingError
    codings = response.headers.pop("content-encoding", "")
    taken = pieces(response.stream, codings, most, failure)
    if response.has_redirect_location:
        taken = _cut(_raw(response.stream))
    response.stream = _stream(library)(taken, response.stream)


def _stream(library: Any) -> Any:
    class Stream(library.AsyncByteStream):  # type: ignore[misc]
        def __init__(self, pieces: AsyncIterator[bytes], body: Any) -> None:
            self._pieces = pieces
            self._body = body

        def __aiter__(self) -> AsyncIterator[bytes]:
            return self._pieces

        async def aclose(self) -> None:
            await self._body.aclose()

    return Stream


async def _raw(body: Any) -> AsyncIterator[bytes]:
    async for chunk in body:
        yield chunk


async def _cut(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    left = _REDIRECT
    async for piece in pieces:
        left -= len(piece)
        if left < 0:
            return
        yield piece


async def pieces(body: Any, codings: str, most: int | None, failure: Failure) -> AsyncIterator[bytes]:
    """The bytes of a body, which comes packed as the header `content-encoding` names it in `codings`."""
    named = [name.strip().lower() for name in codings.split(",")]
    named = [name for name in named if name not in ("", "identity")]
    if named not in ([], ["gzip"], ["x-gzip"]):
        raise failure(
            f"sent an answer that is packed in a way that was not asked for ({', '.join(named)[:100]})"
        )
    size = 0
    try:
        async for piece in _unpacked(body) if named else _raw(body):
            size += len(piece)
            if most is not None and size > most:
                raise failure(f"sent an answer of more than {most / 1024**2:g} MB")
            yield piece
    except zlib.error as error:
        raise failure("sent an answer that cannot be unpacked") from error


async def _unpacked(body: Any) -> AsyncIterator[bytes]:
    packed = zlib.decompressobj(_GZIP)
    async for chunk in body:
        while chunk and not packed.eof:
            if piece := packed.decompress(chunk, PIECE):
                yield piece
            chunk = packed.unconsumed_tail
    if rest := packed.flush():
        yield rest
