"""What the guard has to know of a request, taken out of the ASGI scope in one pass.

Rule 10: what a reverse proxy says about the client counts only when the proxy is a named one.
"""

from __future__ import annotations

from opencode_web.site.security import vouching
from opencode_web.site.security.asgi import Scope

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods without side effects (RFC 9110 §9.2.1)."""

_SINGLE = {
    b"host": "host",
    b"origin": "origin",
    b"authorization": "authorization",
    b"sec-fetch-site": "fetch_site",
    b"sec-fetch-mode": "fetch_mode",
    b"x-csrf-token": "csrf_token",
    b"accept": "accept",
    b"hx-request": "htmx",
    b"access-control-request-method": "preflight",
    b"x-forwarded-for": "forwarded_for",
    vouching.HEADER: "front",
    b"x-forwarded-proto": "forwarded_proto",
}
_ONCE = frozenset({b"host", b"origin", b"authorization", b"sec-fetch-site", b"x-csrf-token", vouching.HEADER})


class Request:
    """The deciding headers as bytes (empty when missing) with the method and path of the scope.

    `path` is the one below `base`, the path of the server, and empty for what is not below it.

    `connected` are the two ends of its connection as they are, whatever a proxy says of the client.
    `repeated` names a header that decides about access and came more than once.
    """

    __slots__ = (
        *_SINGLE.values(),
        "base",
        "client",
        "connected",
        "cookies",
        "is_websocket",
        "method",
        "path",
        "repeated",
        "scope",
    )

    host: bytes
    origin: bytes
    authorization: bytes
    fetch_site: bytes
    fetch_mode: bytes
    csrf_token: bytes
    accept: bytes
    htmx: bytes
    preflight: bytes
    forwarded_for: bytes
    front: bytes
    forwarded_proto: bytes

    def __init__(self, scope: Scope, base: str = "") -> None:
        for slot in _SINGLE.values():
            setattr(self, slot, b"")
        self.scope = scope
        self.is_websocket: bool = scope["type"] == "websocket"
        self.method: str = "GET" if self.is_websocket else scope["method"]
        self.base = base
        self.path = _below(base, scope["path"])
        self.client: str = scope["client"][0] if scope.get("client") else ""
        self.connected = (scope.get("client"), scope.get("server"))
        self.cookies: list[bytes] = []
        self.repeated = ""
        seen = set()
        for name, value in scope["headers"]:
            if name == b"cookie":
                self.cookies.append(value)
                continue
            field = _SINGLE.get(name)
            if field is None:
                continue
            if name in seen and name in _ONCE:
                self.repeated = name.decode("ascii")
            seen.add(name)
            setattr(self, field, value)

    @property
    def changes_something(self) -> bool:
        """Whether it may have side effects; a socket may, for as long as it is open."""
        return self.is_websocket or self.method not in SAFE

    @property
    def is_preflight(self) -> bool:
        """Whether a browser asks, before the request itself, if it may be made (Fetch standard §3.2.2)."""
        return self.method == "OPTIONS" and bool(self.preflight)

    @property
    def is_page(self) -> bool:
        """Whether a browser asks for a document (and not a script of a page for data)."""
        return self.method in ("GET", "HEAD") and b"text/html" in self.accept and not self.is_websocket


def _below(base: str, path: str) -> str:
    rest = path.removeprefix(base)
    return rest if path.startswith(base) and rest.startswith("/") else ""


def apply_forwarded(request: Request, trusted: frozenset[str]) -> None:
    """Put the client's address and the scheme that a trusted proxy saw into the request and its scope.

    The last address in X-Forwarded-For is the one the proxy itself added; those before it are hearsay.
    """
    if request.client not in trusted:
        return
    address = request.forwarded_for.rpartition(b",")[2].strip().decode("ascii", "replace")
    if address:
        request.client = address
        request.scope["client"] = [address, 0]
    if request.forwarded_proto in (b"http", b"https"):
        scheme = request.forwarded_proto.decode("ascii")
        request.scope["scheme"] = scheme.replace("http", "ws") if request.is_websocket else scheme
