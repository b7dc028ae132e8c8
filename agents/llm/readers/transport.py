"""HTTP for the direct readers: one session of aiohttp per event loop, and event streams read through it
(docs/decisions/0036 says why not httpx, as elsewhere)."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

from agents.llm import errors, tls
from agents.llm.bounded import pieces
from agents.llm.types import Body, Model, ModelError, ModelRequest, Response
from sessions.core.sse import Decoder
from sessions.core.text import error_text

if TYPE_CHECKING:
    import aiohttp

_CONNECT_TIMEOUT = 15.0
_KEEPALIVE = 60.0
_HEADER_LIMIT = 64 * 1024
_ERROR_BODY_LIMIT = 64 * 1024
_JSON_LIMIT = 8 * 1024 * 1024
_DRAIN_TIMEOUT = 0.1
_DIRECT_HOSTS = ("127.0.0.1", "localhost", "::1")

_sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession] = WeakKeyDictionary()


def _session() -> aiohttp.ClientSession:
    """That of the running loop."""
    loop = asyncio.get_running_loop()
    found = _sessions.get(loop)
    if found is None:
        import aiohttp  # 100 ms: not before the first request

        found = _sessions[loop] = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEPALIVE, ssl=tls.context()),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
            headers={"accept-encoding": "identity", "user-agent": _user_agent()},
            auto_decompress=False,  # it would unpack a chunk whole, before anybody can count
            max_line_size=_HEADER_LIMIT,
            max_field_size=_HEADER_LIMIT,
        )
    return found


async def aclose() -> None:
    """Close the running loop's session and all its connections."""
    found = _sessions.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found.close()


def _proxy(url: str) -> str | None:
    """The environment's for an address, never one for loopback. Raises ModelError for one of another kind."""
    parts = urlsplit(url)
    if not parts.hostname or parts.hostname in _DIRECT_HOSTS or proxy_bypass(parts.netloc):
        return None
    found = getproxies()
    proxy = found.get(parts.scheme) or found.get("all")
    if proxy and urlsplit(proxy).scheme not in ("http", "https"):
        raise ModelError(f"The proxy {_shown(proxy)} is none of HTTP, which is the only kind that is known.")
    return proxy


def session_headers(request: ModelRequest) -> dict[str, str]:
    """What keeps the requests of a session at the one machine of a provider that has their cache."""
    return {"x-session-affinity": request.session} if request.session else {}


@cache
def _user_agent() -> str:
    with suppress(PackageNotFoundError):
        return f"opencode-web/{version('opencode-web')}"
    return "opencode-web/0"


@asynccontextmanager
async def answer(
    model: Model, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
) -> AsyncIterator[Response]:
    """The answer to one request once its head is there, closed in the end. Redirects are not followed: a key
    goes where it was meant. Raises ModelError (or a subclass) when the provider cannot be reached, refuses,
    or what is done with the answer fails for the connection's sake."""
    import aiohttp

    sent = {name.lower(): value for name, value in headers.items()}
    if "@" in urlsplit(url).netloc:
        sent.pop("authorization", None)  # the address has its own
    begun = False
    try:
        async with asyncio.timeout(model.timeout):
            response = await (model.fetch or partial(_request, model.timeout))(method, url, sent, body)
        begun = True
        try:
            if not 200 <= response.status < 300:
                raise await _refusal(response, model)
            yield response
        finally:
            response.close()
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError, _Undecodable) as error:
        raise _failure(error, url, model, begun) from error


async def _request(
    seconds: float, method: str, url: str, headers: Mapping[str, str], body: bytes | None
) -> Response:
    import aiohttp

    return await _session().request(
        method,
        url,
        data=body,
        headers=headers,
        allow_redirects=False,
        proxy=_proxy(url),
        timeout=aiohttp.ClientTimeout(total=None, connect=min(_CONNECT_TIMEOUT, seconds)),
    )


async def chunks(model: Model, response: Response) -> AsyncIterator[bytes]:
    """What comes of a body as it comes, unpacked. Raises TimeoutError after the pause the model allows."""
    read = _read(response.content, model.chunk_timeout)
    codings = response.headers.get("content-encoding", "")
    async for piece in pieces(read, codings, None, _Undecodable) if codings else read:
        yield piece


async def _read(content: Body, pause: float) -> AsyncIterator[bytes]:
    import aiohttp

    while True:
        try:
            async with asyncio.timeout(pause):
                piece = await content.readany()
        except aiohttp.ClientError:
            if rest := b"".join(
                getattr(content, "_buffer", ())
            ):  # it came before the connection broke, and has no other name
                yield rest
            raise
        if not piece:
            return
        yield piece


class _Undecodable(Exception):
    """Of a body: it is packed otherwise than was asked for."""


async def post_events(
    model: Model, path: str, headers: Mapping[str, str], body: bytes
) -> AsyncGenerator[str, None]:
    """POST `body` (JSON) to the model's base URL plus `path`; yield the data of each event of the answer.

    Raises ModelError (or a subclass) when the provider cannot be reached, refuses, falls silent, or
    answers without a single event.
    """
    decoder, begun, head = Decoder(), False, b""
    url = model.base_url.rstrip("/") + path
    asked = {"content-type": "application/json", "accept": "text/event-stream", **headers}
    async with answer(model, "POST", url, asked, body) as response:
        async for chunk in chunks(model, response):
            for data in decoder.feed(chunk):
                begun = True
                yield data
            if not begun:
                head = (head + chunk)[:_ERROR_BODY_LIMIT]
        for data in decoder.end():
            begun = True
            yield data
        if not begun:
            raise _no_events(head, response, model)


async def get_json(model: Model, url: str, headers: Mapping[str, str]) -> Any:
    """GET the JSON at `url`, with the model's times.

    Raises ModelError (or a subclass) when the provider cannot be reached, refuses, or answers with
    anything else.
    """
    body = b""
    async with answer(model, "GET", url, {"accept": "application/json", **headers}) as response:
        async for chunk in chunks(model, response):
            body += chunk
            if len(body) > _JSON_LIMIT:
                raise ModelError(f"{_shown(url)} sent an answer of more than {_JSON_LIMIT >> 20} MB.")
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{_shown(url)} did not answer with JSON.") from error


async def drain(events: AsyncGenerator[str, None]) -> None:
    """Read what follows the last event, so that the connection can be used again; 0.1 s at most."""
    with suppress(TimeoutError, ModelError):
        async with asyncio.timeout(_DRAIN_TIMEOUT):
            async for _ in events:
                pass


async def _refusal(response: Response, model: Model) -> ModelError:
    body = b""
    async for chunk in chunks(model, response):
        body += chunk
        if len(body) > _ERROR_BODY_LIMIT:
            break
    text = body.decode("utf-8", "replace")
    return errors.from_response(response.status, response.headers, text, secrets=errors.secrets_of(model))


def _no_events(head: bytes, response: Response, model: Model) -> ModelError:
    """A 200 without events: either an error object, or something that is no model at all."""
    text = head.decode("utf-8", "replace").strip()
    if text.startswith(("{", "[")):
        return errors.from_body(text, secrets=errors.secrets_of(model))
    kind = response.headers.get("content-type", "no content type")
    if text:
        return ModelError(f"{_shown(str(response.url))} did not answer with an event stream but with {kind}.")
    return ModelError(f"{_shown(str(response.url))} sent an empty answer.", retryable=True)


def _failure(error: Exception, url: str, model: Model, begun: bool) -> ModelError:
    import aiohttp

    shown = _shown(url)
    unreached = aiohttp.ClientConnectorError, aiohttp.ClientHttpProxyError, aiohttp.ConnectionTimeoutError
    match error:
        case aiohttp.InvalidURL() | aiohttp.NonHttpUrlClientError():
            return ModelError(f"The base URL {shown!r} of {model.provider_id} is no web address.")
        case _ if isinstance(error, unreached):
            root = _root(error)
            retryable = not isinstance(root, ssl.SSLCertVerificationError)
            return ModelError(
                f"Could not connect to {model.provider_id} at {shown}: {_reason(root)}", retryable=retryable
            )
        case ValueError():  # a header that is none, for example
            return ModelError(f"{shown} cannot be asked: {_reason(error)}")
        case TimeoutError():
            text = (
                f"sent nothing for {model.chunk_timeout:g} s"
                if begun
                else f"did not begin to answer within {model.timeout:g} s"
            )
            return ModelError(f"{shown} {text}.", retryable=True)
        case _:
            return ModelError(f"The connection to {shown} broke: {_reason(_root(error))}", retryable=True)


def _root(error: BaseException) -> BaseException:
    """The first cause: the libraries wrap the system's error several times."""
    while True:
        inner: Any = error.__cause__ or error.__context__
        if isinstance(inner, BaseExceptionGroup):
            inner = inner.exceptions[0]
        if inner is None or isinstance(inner, asyncio.CancelledError):
            return error
        error = inner


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    if isinstance(error, OSError) and error.errno and not isinstance(error, socket.gaierror | ssl.SSLError):
        return os.strerror(error.errno).lower()
    return error_text(error)


def _shown(url: str) -> str:
    """The address for people: no user, password or query, which may hold a key."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
