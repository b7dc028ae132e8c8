"""What is another in the requests and answers of a preview than what its browser and its server say.

The server is to find a request of its own origin; the browser is to get nothing that is about this host as a
whole, and a document that says where it may be shown, with our script as the first.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from multidict import CIMultiDict

from opencode_web.site.forwarding import carried
from opencode_web.site.security.asgi import Headers, Message, Scope, Send

PLACE = "/.opencode-web-preview"
"""The path below which a preview's port has something of ours."""
SCRIPT = f"{PLACE}/probe.js"
SANDBOX = "sandbox allow-scripts allow-forms allow-same-origin"
_OURS = (b"opencode_web", b"language=", b"timezone=", b"panel=")
"""How cookies of our own pages begin: a browser sends a cookie to every port of its host (RFC 6265, 8.5)."""
_OF_THE_WAY = frozenset(
    {b"host", b"cookie", b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto"}
)
_ALWAYS_NEW = frozenset({b"if-none-match", b"if-modified-since", b"range", b"if-range", b"accept-encoding"})
_DROPPED = frozenset(
    {
        *(b"clear-site-data", b"x-frame-options", b"service-worker-allowed", b"alt-svc", b"refresh"),
        *(b"strict-transport-security", b"content-security-policy-report-only", b"report-to", b"nel"),
        *(b"cross-origin-resource-policy", b"origin-agent-cluster", b"cross-origin-opener-policy"),
    }
)
"""Headers of an answer that are about the host, all its ports included, or about who shows it."""
_OF_A_DOCUMENT = frozenset({b"content-length", b"etag", b"last-modified", b"cache-control", b"accept-ranges"})
_LEFT_OUT = ("frame-ancestors", "upgrade-insecure-requests")
"""Directives of a policy: our pages are to frame it, and nothing here is encrypted."""
_BEFORE = re.compile(rb"\A(?:\xef\xbb\xbf)?(?:\s|<!--.*?-->)*(?:<!doctype[^>]*>)?", re.IGNORECASE | re.DOTALL)
_ENOUGH = 1024
"""Bytes in which a document type stands."""


@dataclass(frozen=True, slots=True)
class Way:
    """Between the origin of a preview, that of the `pages` around it, and that of its server."""

    own: str
    pages: str
    server: str


def protect(pages: str) -> Headers:
    """The headers of everything that comes from a preview's port. Frames of its own pages in each other are
    within ours, too: an ancestor that is neither ends them."""
    return [
        (b"content-security-policy", f"{SANDBOX}; frame-ancestors 'self' {pages}".strip().encode()),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"origin-agent-cluster", b"?1"),
        (b"x-dns-prefetch-control", b"off"),
    ]


def is_document(scope: Scope) -> bool:
    """Whether a browser asks for what it will show in the frame, or in one within that."""
    headers = dict(scope["headers"])
    wanted = headers.get(b"sec-fetch-dest")
    if wanted is None:
        return b"text/html" in headers.get(b"accept", b"")
    return wanted in (b"iframe", b"frame", b"document")


def there(scope: Scope, way: Way) -> CIMultiDict[str]:
    """The headers of a request, for the server."""
    document = scope["type"] == "http" and is_document(scope)
    headers = carried(scope, _OF_THE_WAY | _ALWAYS_NEW if document else _OF_THE_WAY)
    if document:
        headers["Accept-Encoding"] = "identity"
    headers["Host"] = urlsplit(way.server).netloc
    for name in ("Origin", "Referer"):
        if (said := headers.get(name)) and (said == way.own or said.startswith(f"{way.own}/")):
            headers[name] = way.server + said.removeprefix(way.own)
        elif said and said != "null":
            del headers[name]
    if cookies := cookies_of_others(value for name, value in scope["headers"] if name == b"cookie"):
        headers["Cookie"] = cookies
    return headers


def cookies_of_others(headers: Iterable[bytes]) -> str:
    """The Cookie header without ours; empty where nothing is left."""
    given = [pair.strip() for header in headers for pair in header.split(b";")]
    left = [pair for pair in given if pair and not pair.lower().startswith(_OURS)]
    return b"; ".join(left).decode("latin-1")


class Back:
    """A `send` for the answer of the server; `nonce` is for our script."""

    def __init__(self, send: Send, scope: Scope, way: Way, nonce: str) -> None:
        self._send = send
        self._way = way
        self._nonce = nonce
        self._document = is_document(scope) and scope["method"] == "GET"
        self._begun: bytes | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": self._headers(message["headers"])}
        elif message["type"] == "http.response.body" and self._begun is not None:
            self._begun += message.get("body", b"")
            more = message.get("more_body", False)
            if more and len(self._begun) < _ENOUGH:
                return
            message = {**message, "body": with_script(self._begun, self._nonce)}
            self._begun = None
        await self._send(message)

    def _headers(self, given: Headers) -> Headers:
        named = dict(given)
        kind = named.get(b"content-type", b"").lower()
        has_script = (
            self._document
            and kind.startswith(b"text/html")
            and b"utf-16" not in kind
            and named.get(b"content-encoding", b"identity") == b"identity"
        )
        if has_script:
            self._begun = b""
        headers: Headers = []
        for name, value in given:
            if name in _DROPPED or name.startswith(b"access-control-"):
                continue
            if has_script and name in _OF_A_DOCUMENT:
                continue
            if name == b"set-cookie":
                value = own_cookie(value)
            elif name == b"location":
                value = self._location(value)
            elif name == b"content-security-policy":
                value = policy(value.decode("latin-1"), self._nonce).encode("latin-1")
            if value or name not in (b"set-cookie", b"content-security-policy"):
                headers.append((name, value))
        if has_script:
            headers.append((b"cache-control", b"no-store"))
        return headers + protect(self._way.pages)

    def _location(self, value: bytes) -> bytes:
        """One to the server's own origin, by whatever name of the loopback, leads into the preview."""
        try:
            parts = urlsplit(value.decode("latin-1"))
            port = parts.port
        except ValueError:
            return value
        here = parts.scheme in ("http", "") and parts.hostname in ("localhost", "127.0.0.1", "::1")
        if here and port == urlsplit(self._way.server).port:
            here_again = parts._replace(scheme="http", netloc=urlsplit(self._way.own).netloc)
            return here_again.geturl().encode("latin-1")
        return value


def with_script(document: bytes, nonce: str) -> bytes:
    """Our script before all others. What is in UTF-16 stays as it is."""
    if document.startswith((b"\xff\xfe", b"\xfe\xff")):
        return document
    found = _BEFORE.match(document)
    at = found.end() if found else 0
    return document[:at] + f'<script nonce="{nonce}" src="{SCRIPT}"></script>'.encode() + document[at:]


def own_cookie(value: bytes) -> bytes:
    """A cookie that is of this host alone; empty for one that would be ours."""
    name, *attributes = value.split(b";")
    if name.strip().lower().startswith(_OURS):
        return b""
    left = [one for one in attributes if one.strip().lower().partition(b"=")[0].strip() != b"domain"]
    return b";".join([name, *left])


def policy(given: str, nonce: str) -> str:
    """A Content-Security-Policy of the server, or several, that lets itself be framed and our script run."""
    if "," in given:
        return ", ".join(filter(None, (policy(one, nonce) for one in given.split(","))))
    directives = [words for part in given.split(";") if (words := part.split())]
    left = [one for one in directives if one[0].lower() not in _LEFT_OUT]
    names = [one[0].lower() for one in left]
    for name in ("script-src-elem", "script-src", "default-src"):
        if name in names:
            sources = [one for one in left[names.index(name)][1:] if one.lower() != "'none'"]
            # A nonce would make 'unsafe-inline' count for nothing; 'self' lets our script run as well.
            lax = "'unsafe-inline'" in sources and "'strict-dynamic'" not in sources
            own = "'self'" if lax else f"'nonce-{nonce}'"
            if name == "default-src":
                left.append(["script-src", *sources, own])
            else:
                left[names.index(name)][1:] = [*sources, own]
            break
    return "; ".join(" ".join(one) for one in left)
