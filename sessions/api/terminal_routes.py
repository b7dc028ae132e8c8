"""Where the sockets of terminals are; the code behind them is loaded when the first is opened.

It shares code with the API, which no page waits for.
"""

from __future__ import annotations

from typing import Any

from django.urls import path
from django.utils.module_loading import import_string

_APPLICATION = "sessions.api.terminal_socket.application"


async def _socket(scope: Any, receive: Any, send: Any) -> None:
    await import_string(_APPLICATION)(scope, receive, send)


_application: Any = _socket  # `path` takes ASGI applications too, which its types do not say
websocket_urlpatterns = [
    path("pty/<str:pty_id>/connect", _application),
    path("api/pty/<str:pty_id>/connect", _application),
]
