"""HTTP for the direct readers: one shared client per event loop, and event streams read through it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from agents.llm import errors, tls
from agents.llm.bounded import bound
from agents.llm.types import Model, ModelError, ModelRequest
from sessions.core.sse import Decoder
from sessions.core.text import error_text

if TYPE_CHECKING:
    import httpx

_CONNECT_TIMEOUT = 15.0
_ERROR_BODY_LIMIT = 64 * 1024
_JSON_LIMIT = 8 * 1024 * 1024
_DRAIN_TIMEOUT = 0.1
_DIRECT_HOSTS = ("127.0.0.1", "localhost", "[::1]")

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()


def client() -> httpx.AsyncClient:
    """The client of the running loop. Proxies of the environment are used, but never for loopback."""
    loop = asyncio.get_running_loop()
    found = _clients.get(loop)
    if found is None:
        import httpx  # 70 ms: not before the first request

        found = _clients[loop] = httpx.AsyncClient(
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=60),
            mounts=dict.fromkeys((f"all://{host}" for host in _DIRECT_HOSTS), None),
            verify=tls.context(),
        )
        bound(found, None)
        found.headers["accept-encoding"] = "identity"
        found.headers["user-agent"] = _user_agent()
    return found


async def aclose() -> None:
    """Close the running loop's client and all its connections."""
    found = _clients.pop(asyncio.get_running_loop(), None)
    if found is not None:
        await found.aclose()


def session_headers(request: ModelRequest) -> dict[str, str]:
    """What keeps the requests of a session at the one machine of a provider that has their cache."""
    return {"x-session-affinity": request.session} if request.session else {}


@cache
def _user_agent() -> str:
    with suppress(PackageNotFoundError):
        return f"opencode-web/{version('opencode-web')}"
    return "opencode-web/0"


async def post_events(
    model: Model, path: str, headers: Mapping[str, str], body: bytes
) -> AsyncGenerator[str, None]:
    """POST `body` (JSON) to the model's base URL plus `path`; yield the data of each event of the answer.

    Raises ModelError (or a subclass) when the provider cannot be reached, refuses, falls silent, or
    answers without a single event.
    """
    import httpx

    decoder, begun, head = Decoder(), False, b""
    url = model.base_url.rstrip("/") + path
    try:
        request = client().build_request(
            "POST",
            url,
            content=body,
            headers={"content-type": "application/json", "accept": "text/event-stream", **headers},
            timeout=httpx.Timeout(model.timeout, connect=min(_CONNECT_TIMEOUT, model.timeout)),
        )
        response = await client().send(request, stream=True)
        try:
            if not response.is_success:
                raise await _refusal(response, model)
            # The transport reads this figure when the body begins: from here on it is the pause allowed.
            request.extensions["timeout"]["read"] = model.chunk_timeout
            async for chunk in response.aiter_bytes():
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
        finally:
            await response.aclose()
    except (httpx.TransportError, httpx.InvalidURL, httpx.DecodingError) as error:
        raise _failure(error, url, model, begun) from error


async def get_json(model: Model, url: str, headers: Mapping[str, str]) -> Any:
    """GET the JSON at `url`, with the model's times.

    Raises ModelError (or a subclass) when the provider cannot be reached, refuses, or answers with
    anything else.
    """
    import httpx

    body = b""
    times = httpx.Timeout(model.timeout, connect=min(_CONNECT_TIMEOUT, model.timeout))
    asked = {"accept": "application/json", **headers}
    try:
        async with client().stream("GET", url, headers=asked, timeout=times) as response:
            if not response.is_success:
                raise await _refusal(response, model)
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _JSON_LIMIT:
                    raise ModelError(f"{_shown(url)} sent an answer of more than {_JSON_LIMIT >> 20} MB.")
        return json.loads(body)
    except (httpx.TransportError, httpx.InvalidURL, httpx.DecodingError) as error:
        raise _failure(error, url, model, begun=False) from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{_shown(url)} did not answer with JSON.") from error


async def drain(events: AsyncGenerator[str, None]) -> None:
    """Read what follows the last event, so that the connection can be used again; 0.1 s at most."""
    with suppress(TimeoutError, ModelError):
        async with asyncio.timeout(_DRAIN_TIMEOUT):
            async for _ in events:
                pass


async def _refusal(response: httpx.Response, model: Model) -> ModelError:
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > _ERROR_BODY_LIMIT:
            break
    text = body.decode("utf-8", "replace")
    return errors.from_response(
        response.status_code, response.headers, text, secrets=errors.secrets_of(model)
    )


def _no_events(head: bytes, response: httpx.Response, model: Model) -> ModelError:
    """A 200 without events: either an error object, or something that is no model at all."""
    text = head.decode("utf-8", "replace").strip()
    if text.startswith(("{", "[")):
        return errors.from_body(text, secrets=errors.secrets_of(model))
    kind = response.headers.get("content-type", "no content type")
    if text:
        return ModelError(f"{_shown(str(response.url))} did not answer with an event stream but with {kind}.")
    return ModelError(f"{_shown(str(response.url))} sent an empty answer.", retryable=True)


def _failure(error: Exception, url: str, model: Model, begun: bool) -> ModelError:
    import httpx

    shown = _shown(url)
    match error:
        case httpx.InvalidURL() | httpx.UnsupportedProtocol():
            return ModelError(f"The base URL {shown!r} of {model.provider_id} is no web address.")
        case httpx.ConnectTimeout() | httpx.ConnectError() | httpx.ProxyError() | httpx.PoolTimeout():
            root = _root(error)
            retryable = not isinstance(root, ssl.SSLCertVerificationError)
            return ModelError(
                f"Could not connect to {model.provider_id} at {shown}: {_reason(root)}", retryable=retryable
            )
        case httpx.TimeoutException():
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
