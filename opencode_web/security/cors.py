"""CORS (Fetch standard §3.2) for the origins named in `server.cors` and for nobody else."""

from __future__ import annotations

from opencode_web.security.asgi import Headers
from opencode_web.security.request import Request

MAX_AGE = 600
"""Seconds that a browser may remember a preflight."""

_PREFLIGHT: Headers = [
    (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE"),
    (
        b"access-control-allow-headers",
        b"authorization, content-type, x-opencode-directory, x-opencode-ticket, x-opencode-web,"
        b" last-event-id",
    ),
    (b"access-control-max-age", str(MAX_AGE).encode()),
]


def response_headers(request: Request) -> Headers:
    """For the answer to a request of a named origin. Cookies are not allowed to come along."""
    headers = [
        (b"access-control-allow-origin", request.origin),
        (b"access-control-expose-headers", b"x-next-cursor, link"),
        (b"vary", b"Origin"),
    ]
    return headers + _PREFLIGHT if request.is_preflight else headers
