"""Requests of commands that the agent runs, which would answer its own questions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from opencode_web.site.security.request import Request

Address = tuple[str, int]
Own = Callable[[Address, Address], bool]
"""Whether the agent's commands hold the client's end of a connection, from the one address to the other."""

REFUSAL = "a command that the agent runs may not use the server that asks you about it"

_KNOWN = "own"


def nobody(client: Address, server: Address) -> bool:
    """For a server whose agent runs no commands."""
    return False


async def is_own(request: Request, own: Own) -> bool:
    """Asks once a connection: `connection` of the scope is what is known of that (site/server.py)."""
    client, server = request.connected
    if not client or not server:
        return False
    known = request.scope.get("connection", {})
    if _KNOWN not in known:
        known[_KNOWN] = await asyncio.to_thread(own, _address(client), _address(server))
    return bool(known[_KNOWN])


def _address(given: Sequence[str | int]) -> Address:
    return str(given[0]), int(given[1] or 0)
