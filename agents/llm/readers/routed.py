"""Requests of litellm by a `Fetch` in place of its own HTTP: each of its clients sends through one class."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from agents.llm.types import Fetch, Response

if TYPE_CHECKING:
    import httpx

TRANSPORT = "litellm.llms.custom_httpx.aiohttp_transport"


class Route:
    """Of one request to a model; `taken` once something was sent by it."""

    def __init__(self, fetch: Fetch | None) -> None:
        self._fetch = fetch
        self._taken = False

    @property
    def missed(self) -> bool:
        """Whether what was sent went past it."""
        return self._fetch is not None and not self._taken

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """For what is asked within. Not across a `yield` of a generator, which others' contexts may close."""
        before = _route.set(self if self._fetch is not None else None)
        try:
            yield
        finally:
            _route.reset(before)

    async def send(self, request: httpx.Request) -> httpx.Response:
        import httpx

        assert self._fetch is not None
        self._taken = True
        body = await request.aread()
        try:
            answer = await self._fetch(request.method, str(request.url), dict(request.headers), body or None)
        except OSError as error:
            raise httpx.ConnectError(str(error), request=request) from error
        return httpx.Response(
            answer.status, headers=dict(answer.headers), stream=_stream(answer), request=request
        )


_route: ContextVar[Route | None] = ContextVar("route", default=None)


def install(transport: Any) -> None:
    """Have litellm's class look for a route first."""
    own = transport.handle_async_request

    async def handle(self: Any, request: httpx.Request) -> httpx.Response:
        route = _route.get()
        sent: httpx.Response = await (route.send(request) if route else own(self, request))
        return sent

    transport.handle_async_request = handle


def _stream(answer: Response) -> httpx.AsyncByteStream:
    import httpx

    class Stream(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            try:
                while piece := await answer.content.readany():
                    yield piece
            except OSError as error:
                raise httpx.ReadError(str(error)) from error

        async def aclose(self) -> None:
            answer.close()

    return Stream()
