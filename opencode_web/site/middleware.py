"""Refuse what no guard has seen, compress pages, send the API's paths to their URLs, keep errors bare, speak
the reader's language."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.decorators import async_only_middleware
from django.utils.text import compress_string
from django.utils.translation import override

from opencode_web import languages
from opencode_web.site.security.hosts import is_loopback
from opencode_web.site.static_files import accepts
from sessions.core.space import AWAY, FULL, is_away, is_full

API_ROOTS = frozenset(
    "agent auth command comparison config doc event experimental file find formatter global instance log lsp"
    " mcp path permission project provider pty question schedule session skill sync tui vcs".split()
)

_PAGES = frozenset({"/global/health", "/mcp/oauth/callback"})
"""What is no operation of the API, though its path begins like one."""

_SMALL = 500
"""Bytes below which a packet carries the text either way."""
_RANDOM = 100
_JSON = "application/json"
_LARGE = 4096
"""Bytes of an answer of the API from which on it is worth the time; from this machine to itself none is."""

Handler = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@async_only_middleware
def guarded(get_response: Handler) -> Handler:
    """What did not come through the guard is refused: nobody has looked at its Host, Origin or login."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if "principal" not in getattr(request, "scope", {}):
            return HttpResponse(status=403)
        return await get_response(request)

    return middleware


@async_only_middleware
def compressed(get_response: Handler) -> Handler:
    """What comes in one piece, for a client that takes gzip: text, and for one that is not on this machine
    large answers of the API. A stream is none of it: what has been said would wait for what is to come."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        if not isinstance(response, HttpResponse) or not _compressible(request, response):
            return response
        patch_vary_headers(response, ("Accept-Encoding",))
        if accepts(request.headers.get("Accept-Encoding", ""), "gzip"):
            # The length says nothing to somebody who makes the page repeat what they guess (CVE-2013-3587).
            response.content = await asyncio.to_thread(
                compress_string, response.content, max_random_bytes=_RANDOM
            )
            response["Content-Encoding"] = "gzip"
            if response.has_header("Content-Length"):
                response["Content-Length"] = str(len(response.content))
        return response

    return middleware


def _compressible(request: HttpRequest, response: HttpResponse) -> bool:
    kind, size = response.get("Content-Type", ""), len(response.content)
    wanted = size >= _SMALL if kind.startswith("text/") else kind == _JSON and size >= _LARGE
    if not wanted or response.has_header("Content-Encoding"):
        return False
    return kind != _JSON or not is_loopback(request.META.get("REMOTE_ADDR") or "localhost")


@async_only_middleware
def api_urls(get_response: Handler) -> Handler:
    """By the first segment of the path below the base path, which is all that those URLs know; everything
    else is a page."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        path = request.path_info.removeprefix(settings.BASE_PATH)
        root = path.removeprefix("/").partition("/")[0]
        if root == "api":
            request.urlconf, request.path_info = "opencode_web.site.api_v2_urls", path
        elif root in API_ROOTS and path not in _PAGES:
            request.urlconf, request.path_info = "opencode_web.site.api_urls", path
        return await get_response(request)

    middleware.process_exception = unsaved  # type: ignore[attr-defined]  # Django looks for it there
    return middleware


@async_only_middleware
def translated(get_response: Handler) -> Handler:
    """Pages are in the language of whoever reads them; the API is in English."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if getattr(request, "urlconf", None):
            return await get_response(request)
        chosen = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
        language = languages.wanted(chosen, request.headers.get("Accept-Language", ""))
        with override(language, deactivate=True):
            response = await get_response(request)
        if response.get("Content-Type", "").startswith("text/html"):
            response["Content-Language"] = language
        if isinstance(response, StreamingHttpResponse):
            stream = response.streaming_content
            if isinstance(stream, AsyncGenerator):
                response.streaming_content = _spoken(language, stream)
        return response

    return middleware


async def _spoken(language: str, stream: AsyncGenerator[bytes]) -> AsyncIterator[bytes]:
    """What is made after the middleware has returned."""
    async with aclosing(stream):
        with override(language, deactivate=True):
            async for piece in stream:
                yield piece


def unsaved(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """That the disk is full, or the database away, is said: the log may lie on the same disk."""
    if is_full(error):
        status, words = 507, FULL
    elif is_away(error):
        status, words = 503, AWAY
    else:
        return None
    if getattr(request, "urlconf", None):
        from opencode_web.site import document

        return document.unsaved(request, status, words)
    return HttpResponse(words, status=status, content_type="text/plain; charset=utf-8")
