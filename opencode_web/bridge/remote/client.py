"""An HTTP client of one server that speaks OpenCode's protocol."""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Self
from urllib.parse import quote, unquote, urlsplit

import httpx

from opencode_web.bridge.remote.errors import RemoteError, category_of
from opencode_web.site.security.hosts import is_loopback
from sessions.core.sse import Decoder


@dataclass(frozen=True, slots=True)
class Event:
    """One event of `/event`."""

    type: str
    properties: dict[str, Any]

    @property
    def session_id(self) -> str:
        return str(self.properties.get("sessionID", ""))


async def events(chunks: AsyncIterator[bytes]) -> AsyncGenerator[Event]:
    """The events in a stream of bytes; a frame that is no event is left out."""
    decoder = Decoder()
    async for chunk in chunks:
        for data in decoder.feed(chunk):
            if event := _event(data):
                yield event


def _event(data: str) -> Event | None:
    try:
        found = json.loads(data)
        return Event(found["type"], found.get("properties") or {})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


IDEMPOTENT = frozenset({"GET", "HEAD", "PUT", "DELETE"})
"""Methods that may be repeated whatever became of the first try (RFC 9110 §9.2.2)."""
RETRIED = frozenset({429, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Backoff:
    """All times in seconds."""

    tries: int = 4
    base: float = 0.25
    longest: float = 4.0
    patience: float = 30.0
    """The longest wait a server may ask for; a longer one is told to the caller instead."""

    def delay(self, tried: int, asked: float | None = None) -> float:
        """How long to wait after `tried` tries; `asked` is what the server's Retry-After says."""
        if asked is not None:
            return asked
        return random.uniform(0, min(self.longest, self.base * 2 ** (tried - 1)))  # noqa: S311 (jitter)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from a Retry-After header: a number or a date (RFC 9110 §10.2.3); None without a usable one."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - datetime.now(UTC)).total_seconds())


DIRECTORY_HEADER = "x-opencode-directory"


def normalize_directory(directory: str, *, here: bool) -> str:
    """An absolute path without `..` and without a slash at its end.

    `here` says that the server runs on this machine, so that the folder has to exist.
    Raises RemoteError (invalid).
    """
    if "\0" in directory or not directory.strip():
        raise RemoteError("invalid", f"{directory!r} is no directory.", sent=False)
    path = os.path.normpath(os.path.expanduser(directory))
    if not os.path.isabs(path):
        raise RemoteError("invalid", f"The directory {directory!r} is not an absolute path.", sent=False)
    if here and not os.path.isdir(path):
        raise RemoteError("invalid", f"The directory {path} does not exist.", sent=False)
    return path


def directory_header(directory: str) -> dict[str, str]:
    """The header in ASCII: what is not is percent-encoded, as OpenCode's own clients do it."""
    return {DIRECTORY_HEADER: quote(directory, safe="/")}


USERNAME = "opencode"


@dataclass(frozen=True, slots=True)
class Address:
    """`url` has no credentials and no slash at its end."""

    url: str
    username: str = USERNAME
    password: str = field(default="", repr=False)

    @property
    def here(self) -> bool:
        """Whether the server is on this machine."""
        return is_loopback(urlsplit(self.url).hostname or "")


def address(url: str, username: str = "", password: str = "") -> Address:
    """The address a user has written; credentials in it come before the others. Raises ValueError."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError("the address of a server looks like http://127.0.0.1:4096")
    host = parts.netloc.rpartition("@")[2]
    return Address(
        f"{parts.scheme}://{host}{parts.path.rstrip('/')}",
        unquote(parts.username or "") or username or USERNAME,
        unquote(parts.password or "") or password,
    )


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
        headers = directory_header(normalize_directory(where, here=self.address.here)) if where else {}
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
