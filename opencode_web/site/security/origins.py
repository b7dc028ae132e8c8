"""Rules 4 and 5: where a request may come from; CORS (Fetch standard §3.2) for the named origins alone."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from opencode_web.site.security.asgi import Headers
from opencode_web.site.security.request import Request

_FOREIGN = (b"cross-site", b"same-site")
"""Sec-Fetch-Site of another site, and of another port of this host (W3C Fetch Metadata §2.2)."""


def own_origins(hosts: Iterable[bytes], extra: Iterable[str]) -> frozenset[bytes]:
    """The origins of our own pages; the named extra hosts may also be behind TLS."""
    named = {name.strip().lower().encode() for name in extra}
    return frozenset({b"http://" + host for host in hosts} | {b"https://" + name for name in named if name})


def cors_origins(names: Iterable[str]) -> frozenset[bytes]:
    """The origins of `server.cors`. Raise ValueError for one that is no exact origin."""
    return frozenset(_exact(name) for name in names)


def _exact(name: str) -> bytes:
    parts = urlsplit(name)
    bare = parts.scheme and parts.netloc and not (parts.path.strip("/") or parts.query or parts.fragment)
    if not bare or "*" in name or "@" in name:
        raise ValueError(f"{name!r} is no origin; write SCHEME://HOST[:PORT]")
    return f"{parts.scheme}://{parts.netloc}".lower().encode("ascii")


def refusal(request: Request, own: frozenset[bytes], cors: frozenset[bytes]) -> str:
    """Why the origin of this request is refused, whatever its credentials; empty when it is not."""
    if request.origin in cors:
        return ""
    if request.changes_something and request.origin and request.origin not in own:
        return "this origin is not allowed"
    if request.fetch_site in _FOREIGN and (request.changes_something or request.fetch_mode != b"navigate"):
        return "requests of other sites are not allowed"
    return ""


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
