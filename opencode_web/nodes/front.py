"""A front: signs people in, shows what goes on at all nodes, and passes what is for one of them on to it."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from typing import Any

from django.db import DatabaseError, InterfaceError

from opencode_web.nodes import registry
from opencode_web.nodes.proxy import Proxy
from opencode_web.site import logins
from opencode_web.site.forwarding import GOING_AWAY, NotConnected, Unreachable
from opencode_web.site.security.asgi import Application, respond
from opencode_web.site.security.guard import Guard
from opencode_web.site.security.people import People
from opencode_web.site.security.policy import Policy
from opencode_web.site.security.request import Request
from opencode_web.team import PATH
from sessions.core.db import in_db
from sessions.core.platform.peers import commands
from sessions.rendering.html import html

logger = logging.getLogger(__name__)

_RENEWED = 1.0
_proxies: list[Proxy] = []


class Front:
    """An application around the front's own."""

    def __init__(self, own: Application, policy: Policy) -> None:
        self._own = own
        self._proxy = Proxy(policy.team_key)
        _proxies.append(self._proxy)
        self._base = policy.base
        self._below = re.compile(rf"{re.escape(policy.base)}{PATH}([a-z0-9-]+)(?=/|$)")
        self._addresses: dict[str, str] = {}
        self._until = 0.0

    def base_of(self, path: str) -> str:
        """The path below which the rules of the guard look at the rest."""
        found = self._below.match(path)
        return found[0] if found else self._base

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        found = self._below.match(scope.get("path", ""))
        if found is None:
            await self._own(scope, receive, send)
            return
        name = found[1]
        address = await self._address(name)
        if address is None:
            await _answer(scope, receive, send, 404, name, f"there is no machine {name}")
            return
        try:
            await self._pass_on(name, address, scope, receive, send)
        except Unreachable as error:
            logger.warning("node %s at %s does not answer: %s", name, address, error)
            await _answer(scope, receive, send, 502, name, f"the machine {name} does not answer")

    async def _pass_on(self, name: str, address: str, scope: Any, receive: Any, send: Any) -> None:
        """Raises Unreachable."""
        try:
            await self._proxy.to(address)(scope, receive, send)
        except NotConnected:
            anew = await self._address(name, anew=True)  # it may have begun again, at another port
            if anew is None or anew == address:
                raise
            await self._proxy.to(anew)(scope, receive, send)

    async def _address(self, name: str, *, anew: bool = False) -> str | None:
        """As it was a second ago, or is now; what was known, where the database is away."""
        clock = asyncio.get_running_loop().time()
        if anew or clock > self._until:
            try:
                self._addresses = {node.name: node.address for node in await in_db(registry.nodes)}
                self._until = clock + _RENEWED
            except (DatabaseError, InterfaceError) as error:
                logger.warning("the nodes are not known anew: %s", error)
        return self._addresses.get(name)


async def _answer(scope: Any, receive: Any, send: Any, status: int, name: str, words: str) -> None:
    """In place of a node: a page for people, for others what the API's errors look like."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": GOING_AWAY})
        return
    request = Request(scope)
    if status == 404 or not request.is_page or request.htmx:
        body = {"name": "NotFoundError" if status == 404 else "UnknownError", "data": {"message": words}}
        await respond(send, status, json.dumps(body), "application/json")
        return
    shown = html("nodes/away.html", name=name, request_path=scope["path"], csrf=None)
    await respond(send, status, shown, "text/html")


def build(application: Application, policy: Policy, people: People | None = None) -> Guard:
    """The door of a front, with its own application. A ticket is for the node to redeem."""
    logins.read()
    front = Front(application, policy)
    return Guard(
        front,
        policy,
        redeem=lambda terminal, ticket: True,
        logins=logins.logins,
        own=commands().own,
        base_of=front.base_of,
        people=people,
    )


async def close() -> None:
    """Let go of the connections to the nodes, once nothing is passed on any more."""
    for proxy in _proxies:
        await proxy.close()
    _proxies.clear()
