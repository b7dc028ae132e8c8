"""Send OpenCode's API paths to their own URLs and keep errors from becoming pages with stack traces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.decorators import async_only_middleware
from django.utils.module_loading import import_string

from sessions.space import FULL, is_full

API_ROOTS = frozenset(
    "agent auth command config doc event experimental file find formatter global instance log lsp mcp path"
    " permission project provider pty question session skill sync tui vcs".split()
)

_FULL = "opencode_web.document.full"
"""By name, as Django's own handlers are: what makes the document takes 160 ms to import, at every start."""
_PAGES = frozenset({"/global/health", "/mcp/oauth/callback"})
"""What is no operation of the API, though its path begins like one."""

Handler = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@async_only_middleware
def api_urls(get_response: Handler) -> Handler:
    """By the first segment of the path; everything else is a page."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        root = request.path_info.split("/", 2)[1]
        if root == "api":
            request.urlconf = "opencode_web.api_v2_urls"
        elif root in API_ROOTS and request.path_info not in _PAGES:
            request.urlconf = "opencode_web.api_urls"
        return await get_response(request)

    middleware.process_exception = out_of_room  # type: ignore[attr-defined]  # Django looks for it there
    return middleware


def out_of_room(request: HttpRequest, error: Exception) -> HttpResponse | None:
    """What could not be written as the disk is full is said to be so: the log lies on the same disk."""
    if not is_full(error):
        return None
    if getattr(request, "urlconf", None):
        answer: HttpResponse = import_string(_FULL)(request)
        return answer
    return HttpResponse(FULL, status=507, content_type="text/plain; charset=utf-8")
