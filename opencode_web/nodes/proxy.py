"""Passes a request or a socket on to the node that it is for, and what comes back to who asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from multidict import CIMultiDict
from yarl import URL

from opencode_web.site.forwarding import Forwarder, carried, target
from opencode_web.site.security import vouching
from opencode_web.site.security.asgi import Application, Receive, Scope, Send

_OURS = frozenset({vouching.HEADER, b"authorization", b"origin", b"x-forwarded-for", b"x-forwarded-proto"})
"""Who asks the front has found out, and says it in one header."""
_AGAIN = frozenset({b"x-request-id"})
"""Headers of an answer that the front sends, too."""


class Proxy:
    """`key` is the team's (`Policy.team_key`). Call `close` at the end."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._forwarder = Forwarder()

    def to(self, address: str) -> Application:
        """The application at the address of a node. It raises Unreachable before anything was answered, and
        NotConnected before anything was asked."""

        async def application(scope: Scope, receive: Receive, send: Send) -> None:
            url = URL(f"{address}{target(scope)}", encoded=True)
            if scope["type"] == "websocket":
                await self._forwarder.socket(url, self._headers(scope, "GET"), scope, receive, send)
            else:
                headers = self._headers(scope, scope["method"])
                await self._forwarder.request(url, headers, scope, receive, send, _AGAIN)

        return application

    async def close(self) -> None:
        await self._forwarder.close()

    def _headers(self, scope: Scope, method: str) -> CIMultiDict[str]:
        headers = carried(scope, _OURS)
        said = {
            "principal": _passed_on(scope["principal"]),
            "client": (scope.get("client") or [""])[0],
            "scheme": scope.get("scheme", "http"),
        }
        vouched = vouching.vouch(self._key, method, scope["path"], said)
        headers[vouching.HEADER.decode()] = vouched.decode()
        return headers


def _passed_on(principal: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """A ticket is the node's to redeem."""
    return None if principal is None or principal["kind"] == "ticket" else principal
