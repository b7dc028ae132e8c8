"""What stands at the port of a preview: lets in who has a ticket, and passes on what its own pages ask for.

What is previewed is hostile. Its pages are on another origin than ours, in a sandbox, framed by nobody but
our pages; nothing that another page, another port or a name that was bound anew asks for gets through
(docs/decisions/0070-preview.md).
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from urllib.parse import parse_qs

from yarl import URL

from opencode_web.site.forwarding import Forwarder, Unreachable, target
from opencode_web.site.preview.holder import Holder
from opencode_web.site.preview.rewriting import PLACE, SCRIPT, Back, Way, protect, there
from opencode_web.site.security.asgi import Headers, Receive, Scope, Send, respond
from opencode_web.site.security.hosts import LOOPBACK_NAMES
from opencode_web.site.security.logins import Logins
from opencode_web.site.security.refusal import Refused
from sessions.core.bounded import Bounded

BEGIN = f"{PLACE}/begin"
TICKET_SECONDS = 60.0
_TICKETS = 32
_COOKIES = 64
_CONNECTIONS = 128
_LARGEST = 16 * 1024 * 1024
"""Bytes of one message of a socket."""
_FOREIGN = (b"same-site", b"cross-site")
_ONCE = frozenset({b"host", b"origin", b"sec-fetch-site", b"sec-fetch-dest", b"sec-fetch-mode"})
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


@dataclass(frozen=True, slots=True)
class Ticket:
    expires: float
    holder: Holder


class PreviewGuard:
    """Of the preview at `port`, which pages of the server at the port `pages` show. `look` says where the
    server is that is previewed, None where it is gone. Call `close` at the end."""

    def __init__(
        self,
        port: int,
        pages: int,
        look: Callable[[], Awaitable[tuple[str, int] | None]],
        logins: Logins,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.cookie = f"opencode_web_preview_{port}"
        self._pages = {f"{name}:{port}": f"http://{name}:{pages}" for name in LOOPBACK_NAMES}
        self._look = look
        self._logins = logins
        self._clock = clock
        self._tickets: Bounded[bytes, Ticket] = Bounded(_TICKETS)
        self._holders: Bounded[bytes, Holder] = Bounded(_COOKIES)
        self._forwarder = Forwarder(_CONNECTIONS, _LARGEST)

    def ticket(self, holder: Holder) -> str:
        """The path at which a frame begins: it works once, for a minute."""
        token = secrets.token_urlsafe(32)
        self._tickets[_digest(token.encode())] = Ticket(self._clock() + TICKET_SECONDS, holder)
        return f"{BEGIN}?ticket={token}"

    async def close(self) -> None:
        await self._forwarder.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        try:
            await self._pass(scope, receive, send)
        except Refused as refused:
            if scope["type"] == "websocket":
                await receive()
                await send({"type": "websocket.close", "code": 4403})
            else:
                pages = self._pages.get(_host(dict(scope["headers"])), "")
                headers = [*protect(pages), (b"cache-control", b"no-store")]
                await respond(send, refused.status, refused.message, headers=headers)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        said = _said(scope["headers"])
        host = _host(said)
        if host not in self._pages:
            raise Refused(421, "this host name is not served here")
        way = Way(own=f"http://{host}", pages=self._pages[host], server="")
        if reason := _refusal(scope, said, way.own.encode()):
            raise Refused(403, reason)
        if scope["path"] == BEGIN and scope["type"] == "http":
            await self._begin(scope, send, way)
            return
        holder = self._holder(value for name, value in scope["headers"] if name == b"cookie")
        if holder is None:
            raise Refused(401, "open the preview on the page of the session")
        if scope["path"] == SCRIPT and scope["type"] == "http":
            text = _probe().replace('"@around"', json.dumps(way.pages))
            headers = [*protect(way.pages), (b"cache-control", b"no-store")]
            await respond(send, 200, text, "text/javascript", headers)
            return
        address = await self._look()
        if address is None:
            raise Refused(502, "nothing listens there any more")
        held = {**scope, "principal": holder.principal}
        way = Way(way.own, way.pages, _origin(address))

        async def forward(scope: Scope, receive: Receive, send: Send) -> None:
            await self._forward(scope, receive, send, way, address)

        await self._logins.hold(holder.login, forward, held, receive, send)

    async def _begin(self, scope: Scope, send: Send, way: Way) -> None:
        """Raises Refused."""
        query = scope.get("query_string", b"").decode("latin-1")
        given = parse_qs(query, max_num_fields=8).get("ticket", [""]) if query.count("&") < 8 else [""]
        ticket = self._tickets.pop(_digest(given[0].encode()), None) if scope["method"] == "GET" else None
        if ticket is None or ticket.expires <= self._clock():
            raise Refused(403, "this ticket was used, or is too old: choose the port again")
        value = secrets.token_urlsafe(32)
        self._holders[_digest(value.encode())] = ticket.holder
        cookie = f"{self.cookie}={value}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"cache-control", b"no-store")]
        await respond(send, 303, "", headers=[*headers, *protect(way.pages)])

    def _holder(self, headers: Iterable[bytes]) -> Holder | None:
        """What another port of this host planted beside the cookie is none."""
        prefix = f"{self.cookie}=".encode()
        for pair in (pair.strip() for header in headers for pair in header.split(b";")):
            if pair.startswith(prefix):
                holder = self._holders.get(_digest(pair.removeprefix(prefix)))
                if holder is not None and not self._logins.has_ended(holder.login):
                    return holder
        return None

    async def _forward(
        self, scope: Scope, receive: Receive, send: Send, way: Way, address: tuple[str, int]
    ) -> None:
        host = f"[{address[0]}]" if ":" in address[0] else address[0]
        path = target(scope)
        headers = there(scope, way)
        if not path.startswith("/"):
            raise Refused(400, "this is no path")
        if scope["type"] == "websocket":
            url = URL(f"ws://{host}:{address[1]}{path}", encoded=True)
            await self._forwarder.socket(url, headers, scope, receive, send)
            return
        url = URL(f"http://{host}:{address[1]}{path}", encoded=True)
        back = Back(send, scope, way, secrets.token_urlsafe(16))
        try:
            await self._forwarder.request(url, headers, scope, receive, back)
        except Unreachable as error:
            raise Refused(502, "what is previewed does not answer") from error


def _refusal(scope: Scope, said: dict[bytes, bytes], own: bytes) -> str:
    """Why a request is not one of the preview's own pages; empty for one that is."""
    origin, site = said.get(b"origin", b""), said.get(b"sec-fetch-site", b"")
    frame = said.get(b"sec-fetch-dest"), said.get(b"sec-fetch-mode")
    if scope["type"] == "websocket":
        return "" if hmac.compare_digest(origin, own) else "this origin is not allowed"
    if scope["method"] not in _METHODS:
        return "this method is not allowed"
    if b"service-worker" in said or frame[0] == b"serviceworker":
        return "a preview has no service worker: it would outlive it"
    # A page that sends no referrer says `null`; so does one in a sandbox, but it is of no same origin.
    if origin and origin != own and (origin, site) != (b"null", b"same-origin"):
        return "this origin is not allowed"
    shown = scope["method"] == "GET" and frame == (b"iframe", b"navigate") and site == b"same-site"
    if site in _FOREIGN and not shown:
        return "requests of other sites are not allowed"
    return ""


def _host(said: dict[bytes, bytes]) -> str:
    return said.get(b"host", b"").decode("latin-1").lower()


def _said(headers: Headers) -> dict[bytes, bytes]:
    """Raises Refused where one that decides came twice."""
    said: dict[bytes, bytes] = {}
    for name, value in headers:
        if name in said and name in _ONCE:
            raise Refused(400, f"more than one {name.decode('latin-1')} header")
        said[name] = value
    return said


def _origin(address: tuple[str, int]) -> str:
    """As its developers call it: their servers look at the Host, too."""
    host = "localhost" if address[0] in ("127.0.0.1", "::1") else address[0]
    return f"http://{host}:{address[1]}"


@cache
def _probe() -> str:
    return (Path(__file__).parent / "probe.js").read_text()


def _digest(token: bytes) -> bytes:
    return sha256(token).digest()
