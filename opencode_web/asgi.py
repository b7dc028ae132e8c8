"""What is behind the guard: HTTP and WebSocket, static files beside Django."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import django
from channels.routing import URLRouter
from django.conf import settings
from django.core.exceptions import RequestAborted
from django.core.handlers import asgi as handlers
from django.core.handlers.asgi import ASGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, reset_queries
from django.urls import get_resolver
from django.utils.translation import override

django.setup(set_prefix=False)  # before anything that imports models

from opencode_web import languages  # noqa: E402
from opencode_web.site.metrics.counts import counted  # noqa: E402
from opencode_web.site.security.asgi import Application  # noqa: E402
from opencode_web.site.security.guard import STATIC  # noqa: E402
from opencode_web.site.static_files import StaticFiles  # noqa: E402
from sessions.api import terminal_routes as terminals  # noqa: E402
from sessions.web.approvals import inbox as inbox_socket  # noqa: E402
from sessions.web.files import socket as files_socket  # noqa: E402
from sessions.web.overview import socket as overview_socket  # noqa: E402
from sessions.web.socket import websocket_urlpatterns  # noqa: E402

# Django would start a thread before each request to look after the connections of that thread; all queries
# run on another one (sessions/core/db.py).
for _receiver in (reset_queries, close_old_connections):
    request_started.disconnect(_receiver)


class _Handler(ASGIHandler):
    async def listen_for_disconnect(self, receive: Any) -> None:
        """Return, rather than raise: Django ignores it, but where the server is ended nobody looks."""
        with suppress(RequestAborted):
            await super().listen_for_disconnect(receive)


class _OneThread(_Handler):
    """Without a thread for each request, in which Django would only close the response: half of what a small
    answer costs. All views are asynchronous, and no connection is theirs."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.handle(scope, receive, send)


def _here(close: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    async def closed() -> None:
        close()

    return closed


if settings.PEOPLE:  # the views of django-allauth run in threads, with connections that are to be closed
    pages: _Handler = _Handler()
else:
    handlers.sync_to_async = _here  # type: ignore[attr-defined]  # by which it closes responses
    request_finished.disconnect(close_old_connections)
    pages = _OneThread()
_static = StaticFiles()
_websocket = URLRouter(
    [
        *inbox_socket.websocket_urlpatterns,
        *overview_socket.websocket_urlpatterns,
        *terminals.websocket_urlpatterns,
        *files_socket.websocket_urlpatterns,
        *websocket_urlpatterns,
    ]
)


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Django's URLs have the base path, so that `reverse` gives it; the others know nothing of it."""
    below: Any = {**scope, "path": scope["path"].removeprefix(settings.BASE_PATH)}
    if scope["type"] == "websocket":
        with override(languages.of_scope(scope), deactivate=True):  # of HTTP by a middleware
            await _websocket(below, receive, send)
    elif below["path"].startswith(STATIC):
        await _static(below, receive, send)
    else:
        await pages(scope, receive, send)


def whole() -> Application:
    """All that is served, with what the first request needs."""
    get_resolver().url_patterns  # noqa: B018 (imports them)
    return counted(application) if settings.METRICS else application
