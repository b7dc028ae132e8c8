"""Rule 10: what a reverse proxy says about the client counts only when the proxy is a named one."""

from __future__ import annotations

from opencode_web.security.request import Request


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
