"""Send OpenCode's API paths to their own URLs and keep errors from becoming pages with stack traces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import async_only_middleware

API_ROOTS = frozenset("session permission question find file config agent command skill event".split())

Handler = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@async_only_middleware
def api_urls(get_response: Handler) -> Handler:
    """By the first segment of the path; everything else is a page."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path_info.split("/", 2)[1] in API_ROOTS:
            request.urlconf = "opencode_web.api_urls"
        return await get_response(request)

    return middleware
