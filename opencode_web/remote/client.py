"""An HTTP client of one server that speaks OpenCode's protocol."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Self

import httpx

from opencode_web.remote.address import USERNAME, address
from opencode_web.remote.directory import header, normalised
from opencode_web.remote.errors import RemoteError, category_of
from opencode_web.remote.events import Event, events
from opencode_web.remote.retry import IDEMPOTENT, RETRIED, Backoff, retry_after

SECONDS = 30.0
"""How long an answer may take, unless the caller says otherwise."""
CONNECT_SECONDS = 5.0
SILENCE_SECONDS = 45.0
"""An event stream that says nothing for so long is dead: heartbeats come every 10 s."""

Query = Mapping[str, Any]


class Client:
    """Raises RemoteError for every answer that is no success. `directory` goes with each request that names
    no other one."""

    def __init__(
        self,
        url: str,
        username: str = USERNAME,
        password: str = "",
        directory: str | None = None,
        *,
        backoff: Backoff | None = None,
    ) -> None:
        self.address = address(url, username, password)
        self.directory = directory
        self._backoff = backoff or Backoff()
        auth = httpx.BasicAuth(self.address.username, self.address.password)
        self._http = httpx.AsyncClient(
            base_url=self.address.url, auth=auth if self.address.password else None, trust_env=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        await self._http.aclose()

    async def get(self, path: str, query: Query | None = None, *, directory: str | None = None) -> Any:
        return await self.request("GET", path, query=query, directory=directory)

    async def post(self, path: str, body: Any = None, *, directory: str | None = None) -> Any:
        return await self.request("POST", path, body=body, directory=directory)

    async def patch(self, path: str, body: Any = None, *, directory: str | None = None) -> Any:
        return await self.request("PATCH", path, body=body, directory=directory)

    async def put(self, path: str, body: Any = None, *, directory: str | None = None) -> Any:
        return await self.request("PUT", path, body=body, directory=directory)

    async def delete(self, path: str, body: Any = None, *, directory: str | None = None) -> Any:
        return await self.request("DELETE", path, body=body, directory=directory)

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: Any = None,
        directory: str | None = None,
        seconds: float | None = SECONDS,
    ) -> Any:
        """The JSON of the answer, the text of one that is no JSON, None where there is none (204).

        Tried again, after a while, when it can be of use and do no harm.
        """
        request = self._request(method, path, query, body, directory, seconds)
        tried = 0
        while True:
            tried += 1
            try:
                return await self._answer(request)
            except RemoteError as error:
                delay = self._delay(request, error, tried)
                if delay is None:
                    raise
            await asyncio.sleep(delay)

    async def events(self, directory: str | None = None) -> AsyncGenerator[Event]:
        """The events of a directory from now on; `server.connected` comes first, and nothing after it is
        missed. Ends with RemoteError (unreachable) when the stream does."""
        request = self._request("GET", "/event", None, None, directory, SILENCE_SECONDS)
        try:
            response = await self._http.send(request, stream=True)
            try:
                if response.is_error:
                    await response.aread()
                    raise _refusal(response)
                async with aclosing(events(response.aiter_bytes())) as stream:
                    async for event in stream:
                        yield event
            finally:
                await response.aclose()
        except httpx.RequestError as error:
            raise _failure(self.address.url, error) from error
        raise RemoteError("unreachable", "The server ended the stream of events.")

    def _request(
        self,
        method: str,
        path: str,
        query: Query | None,
        body: Any,
        directory: str | None,
        seconds: float | None,
    ) -> httpx.Request:
        where = directory or self.directory
        headers = header(normalised(where, here=self.address.here)) if where else {}
        given = {"json": body} if body is not None else {}
        params = {name: value for name, value in (query or {}).items() if value is not None}
        timeout = httpx.Timeout(seconds, connect=CONNECT_SECONDS)
        return self._http.build_request(
            method, path, params=params or None, headers=headers, timeout=timeout, **given
        )

    async def _answer(self, request: httpx.Request) -> Any:
        try:
            response = await self._http.send(request)
        except httpx.RequestError as error:
            raise _failure(self.address.url, error) from error
        if not response.is_success:
            raise _refusal(response)
        return _content(response)

    def _delay(self, request: httpx.Request, error: RemoteError, tried: int) -> float | None:
        """Seconds until the next try; None when there is to be none."""
        worth = error.status in RETRIED or error.category == "unreachable"
        safe = request.method in IDEMPOTENT or not error.sent
        if not (worth and safe) or tried >= self._backoff.tries:
            return None
        asked = error.retry_after
        if asked is not None and asked > self._backoff.patience:
            return None
        return self._backoff.delay(tried, asked)


def _content(response: httpx.Response) -> Any:
    if not response.content:
        return None
    if "json" not in response.headers.get("content-type", ""):
        return response.text
    try:
        return response.json()
    except ValueError as error:
        raise RemoteError("server", "The server's answer is no JSON.", status=response.status_code) from error


def _failure(url: str, error: httpx.RequestError) -> RemoteError:
    """An answer that did not come. Only before a connection is it certain that nothing was sent."""
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.UnsupportedProtocol):
        return RemoteError("unreachable", f"No server answers at {url}.", sent=False)
    if isinstance(error, httpx.TimeoutException):
        return RemoteError("timeout", f"{url} did not answer in time.")
    return RemoteError("unreachable", f"The connection to {url} broke ({type(error).__name__}).")


def _refusal(response: httpx.Response) -> RemoteError:
    status = response.status_code
    return RemoteError(
        category_of(status) if status >= 400 else "server",
        _reason(response),
        status=status,
        retry_after=retry_after(response.headers),
    )


def _reason(response: httpx.Response) -> str:
    """What the server says was wrong, in the words of either protocol."""
    try:
        said = json.loads(response.content)
        message = said.get("message") or (said.get("data") or {}).get("message") or said.get("name")
    except (ValueError, AttributeError):
        message = None
    request = response.request
    return str(message or f"{request.method} {request.url.path} was answered with {response.status_code}.")
