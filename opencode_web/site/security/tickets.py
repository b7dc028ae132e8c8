"""A ticket in the address of a terminal's socket, for a browser: it cannot send credentials with an upgrade.

It opens nothing else, and whoever hands tickets out looks after their end and their single use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs

from opencode_web.site.security.request import Request

Redeem = Callable[[str, str], bool]
"""Whether the terminal with this id may be opened with this ticket, now."""

_SOCKET = re.compile(r"/(?:api/)?pty/([^/]+)/connect")


def ticket_of(request: Request) -> tuple[str, str] | None:
    """The terminal and the ticket of a request that brings one; None for every other request."""
    asked = _SOCKET.fullmatch(request.path) if request.is_websocket else None
    if asked is None:
        return None
    query = request.scope.get("query_string", b"").decode("latin-1")
    given = parse_qs(query, max_num_fields=100).get("ticket") if query.count("&") < 100 else None
    return (asked[1], given[0]) if given else None


def none_issued(terminal: str, ticket: str) -> bool:
    """For a server without terminals."""
    return False
