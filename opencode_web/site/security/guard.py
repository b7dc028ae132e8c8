"""The one door: an ASGI application around everything else, for HTTP and WebSocket alike.

A request passes Host, Origin, credentials and CSRF in this order (docs/security.md, rules 1-6,
10 and 16), then it must not come from the agent itself; what comes back gets its headers (rules 5 and 7).
Inside, `scope["principal"]` says who asks, and `scope["launch"]` gives the token by which a device is let in;
it is not there at a node, where a front lets in.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable
from typing import Any, Literal, NotRequired, TypedDict

from opencode_web.site import request_id
from opencode_web.site.security import headers, launch, origins, peers, tickets, vouching
from opencode_web.site.security.asgi import (
    Application,
    Headers,
    Receive,
    Scope,
    Send,
    TooLarge,
    read_body,
    redirect,
    replayed,
    respond,
)
from opencode_web.site.security.cookies import (
    CSRF_HEADER,
    BrowserSession,
    SessionCookies,
    csrf_matches,
    csrf_token,
    mask_csrf,
)
from opencode_web.site.security.credentials import Credentials
from opencode_web.site.security.logins import Logins
from opencode_web.site.security.pages import PATHS, STYLE, Pages
from opencode_web.site.security.people import People, Said, name_of, token_of
from opencode_web.site.security.policy import Policy
from opencode_web.site.security.refusal import LOGIN, Refused, refuse
from opencode_web.site.security.request import SAFE, Request, apply_forwarded
from opencode_web.site.security.shared import MOST_CALLED, count_misses, is_hook, is_shared_page
from opencode_web.site.security.throttle import Throttle

logger = logging.getLogger(__name__)

METRICS = "/metrics"
READY = "/ready"
FAVICON = "/favicon.ico"
STATIC = ("/static/", FAVICON)
"""How the paths of files begin; browsers ask for an icon by the name of long ago, whatever a page says."""


class Principal(TypedDict):
    """Who asks: `session` and `csrf` (the token its pages send back) are set for a browser only. `person` is
    there where the server has people, but not for its own password, with the name under which is `held` what
    they have open, where that is no browser's login."""

    kind: Literal["cookie", "basic", "bearer", "ticket", "proxy"]
    session: str | None
    csrf: str | None
    person: NotRequired[Said]
    held: NotRequired[str]


class Guard:
    """`launch_tokens.issue()` gives the token for a launch URL. `clock` counts seconds."""

    def __init__(
        self,
        application: Application,
        policy: Policy,
        clock: Callable[[], float] = time.monotonic,
        redeem: tickets.Redeem = tickets.none_issued,
        logins: Logins | None = None,
        own: peers.Own = peers.nobody,
        base_of: Callable[[str], str] | None = None,
        people: People | None = None,
    ) -> None:
        self.launch_tokens = launch.LaunchTokens(clock)
        self._application = application
        self._policy = policy
        self._redeem = redeem
        self._own = own
        self._people = people
        self._base_of = base_of or (lambda path: policy.base)
        self._credentials = Credentials(policy.username, policy.password)
        self._metrics = Credentials("", policy.metrics_token) if policy.metrics_token else None
        self._logins = logins or Logins()
        self._cookies = SessionCookies(
            policy.key, policy.port, self._logins.has_ended, self._logins.generation, policy.base
        )
        self._throttle = Throttle(clock)
        self._wrong_shares = Throttle(clock)
        self._pages = Pages(
            self._credentials,
            self._cookies,
            self._logins,
            self._throttle if policy.guessable else None,
            self.launch_tokens,
            people is not None,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._application(scope, receive, send)
            return
        # daphne takes root_path from a header of the client; inside, it would shift the paths judged here.
        scope = {**scope, "root_path": "", "principal": None}
        request = Request(scope, self._base_of(scope["path"]))
        apply_forwarded(request, self._policy.trusted_proxies)
        name = request_id.begin(scope["headers"])
        if not request.is_websocket:
            send = self._harden(request, send, name)
        try:
            await self._pass(request, receive, send)
        except Refused as refused:
            logger.info("%d %r from %s: %s", refused.status, request.path, request.client, refused.message)
            base, below = (self._policy.base, "") if self._people else (request.base, request.base)
            await refuse(request, refused, receive, send, base, below)

    async def _pass(self, request: Request, receive: Receive, send: Send) -> None:
        if request.repeated:
            raise Refused(400, f"more than one {request.repeated} header")
        front = self._front(request)
        if front is None and request.host.lower() not in self._policy.hosts:
            raise Refused(421, "this host name is not served here; OPENCODE_WEB_ALLOWED_HOSTS names more")
        if not request.path:
            await self._lead_below(request, send)
            return
        reason = "" if front else origins.refusal(request, self._policy.origins, self._policy.cors)
        if reason:
            raise Refused(403, reason)
        if request.is_preflight and request.origin in self._policy.cors:
            await respond(send, 204, "")
            return
        called = is_hook(request)
        if called:
            if await peers.is_own(request, self._own):
                raise Refused(403, peers.REFUSAL)
            try:
                receive = replayed(await read_body(receive, MOST_CALLED), receive)
            except TooLarge as error:
                raise Refused(413, f"at most {MOST_CALLED >> 10} KiB") from error
        if called or is_shared_page(request):
            await self._show_shared(request, receive, send)
            return
        if not (_is_public(request) or self._signs_in(request)):
            known = front and front["principal"]
            request.scope["principal"] = known or await self._authenticate(request)
            if not front:
                request.scope["launch"] = self.launch_tokens.issue
            if await peers.is_own(request, self._own):
                raise Refused(403, peers.REFUSAL)
            await self._check_socket(request)
        elif not front and request.changes_something and request.origin not in self._policy.origins:
            raise Refused(403, "the login form has to come from this server")
        if self._signs_in(request):
            secure = request.scope.get("scheme") == "https"
            known = self._cookies.read(request.cookies)
            request.scope["login"] = known.id if known else ""
            request.scope["sign_in"] = lambda login: self._cookies.issue(secure, login)
            await self._application(request.scope, receive, send)
        elif request.path in PATHS:
            await self._pages.answer(request, receive, send)
        elif login := self._login(request):
            await self._logins.hold(login, self._application, request.scope, receive, send)
        else:
            await self._application(request.scope, receive, send)

    async def _check_socket(self, request: Request) -> None:
        """Raises Refused where its person may not have it; what is passed on to a node, that one looks at."""
        person = (request.scope["principal"] or {}).get("person")
        is_here = request.is_websocket and request.base == self._policy.base
        if self._people and person and is_here and not await self._people.may_open(person, request):
            raise Refused(403, "this takes a role that you do not have here")

    def _front(self, request: Request) -> dict[str, Any] | None:
        """What a front of the team says of a request that it passes on; None where it comes from no front.
        Raises Refused for what only looks like it."""
        if not request.front:
            return None
        said = vouching.vouched(self._policy.team_key, request.method, request.scope["path"], request.front)
        if said is None:
            raise Refused(403, "no front of this team passed this on")
        request.client, request.scope["client"] = said["client"], [said["client"], 0]
        request.scope["scheme"] = said["scheme"]
        return said

    async def _lead_below(self, request: Request, send: Send) -> None:
        """From the path of the server without its slash to the one with it; anything else is not here."""
        base = request.base
        if request.scope["path"] != base or not request.is_page:
            raise Refused(404, f"this server is below {base}/")
        await redirect(send, f"{base}/")

    def _signs_in(self, request: Request) -> bool:
        """Whether it is for the pages by which people sign in. They are the application's; what they send is
        looked at as a login is. Their `sign_in` gives the cookie of a login with an id; `login` is that of
        the one which the browser has, for who links an account with it."""
        below = request.path == LOGIN or request.path.startswith(f"{LOGIN}/")
        return bool(self._people) and below and not request.is_websocket

    def _login(self, request: Request) -> BrowserSession | None:
        """The login that a request ends with; also of a socket that a page of ours opens by a ticket."""
        principal = request.scope["principal"]
        if principal and "held" in principal:
            return BrowserSession(principal["held"], "", math.inf, math.inf)
        by_login = principal and principal["kind"] in ("cookie", "ticket")
        return self._cookies.read(request.cookies) if by_login else None

    async def _show_shared(self, request: Request, receive: Receive, send: Send) -> None:
        """Whoever asks is nobody here: cookies and credentials are not looked at."""
        await self._application(
            request.scope, receive, count_misses(send, self._wrong_shares, request.client)
        )

    async def _authenticate(self, request: Request) -> Principal:
        if ticket := tickets.ticket_of(request):
            if not self._redeem(*ticket):
                raise Refused(403, "this ticket does not open this terminal, or not any more")
            return {"kind": "ticket", "session": None, "csrf": None}
        if request.authorization:
            return await self._check_credentials(request)
        if self._people and (person := await self._named(self._people, request)):
            csrf = csrf_token(f"person:{person['id']}", self._policy.key)
            self._check_change(request, csrf)
            held = f"person:{person['id']}"
            return {"kind": "proxy", "session": None, "csrf": mask_csrf(csrf), "person": person, "held": held}
        # A page of a `server.cors` origin proves itself by credentials of its own, never by our cookie.
        session = None if request.origin in self._policy.cors else self._cookies.read(request.cookies)
        if session is None:
            raise Refused(401, "log in first")
        person = await self._people.signed_in(session.id) if self._people else None
        if self._people and person is None:
            raise Refused(401, "sign in first")
        self._check_change(request, session.csrf)
        known: Principal = {"kind": "cookie", "session": session.id, "csrf": mask_csrf(session.csrf)}
        return {**known, "person": person} if person else known

    def _check_change(self, request: Request, csrf: str) -> None:
        """Raises Refused for what another site makes a browser send, which adds by itself who asks."""
        if request.changes_something:
            if request.origin not in self._policy.origins:
                raise Refused(403, "the Origin header is missing")
            if not request.is_websocket and not csrf_matches(request.csrf_token, csrf):
                raise Refused(403, f"the {CSRF_HEADER} header is missing or wrong")

    async def _named(self, people: People, request: Request) -> Said | None:
        """The person of whom a trusted proxy says that they ask. Raises Refused for one who is not known."""
        names = name_of(request, self._policy.person_header)
        client = request.connected[0]
        if not names or not client or client[0] not in self._policy.trusted_proxies:
            return None
        person = await people.named(names[0]) if len(names) == 1 else None
        if person is None:
            raise Refused(403, "nobody here has the name that the proxy gives")
        return person

    async def _check_credentials(self, request: Request) -> Principal:
        reads_metrics = request.path == METRICS and request.method in SAFE
        if reads_metrics and self._metrics and self._metrics.verify(request.authorization) == "bearer":
            return {"kind": "bearer", "session": None, "csrf": None}
        kind = self._credentials.verify(request.authorization)
        if kind is None and self._people:
            by_token = await self._people.with_token(token_of(request.authorization))
            if by_token:
                held, person = by_token
                return {"kind": "bearer", "session": None, "csrf": None, "person": person, "held": held}
        if kind is None:
            if self._policy.guessable:
                await self._throttle.fail(request.client)
            raise Refused(401, "wrong credentials")
        return {"kind": kind, "session": None, "csrf": None}

    def _harden(self, request: Request, send: Send, name: str) -> Send:
        extra: Headers = [(request_id.HEADER, name.encode())]
        if request.origin in self._policy.cors:
            extra += origins.response_headers(request)
        return headers.harden(send, extra, may_store=request.path.startswith(STATIC))


def _is_public(request: Request) -> bool:
    """Whether it needs no login: the login itself, a launch URL, whether the server is ready, and the files
    that every visitor may have."""
    if request.is_websocket:
        return False
    if request.path == LOGIN:
        return True
    if request.method not in ("GET", "HEAD"):
        return False
    if request.path in (STYLE, launch.PATH, READY):
        return True
    return request.path.startswith(STATIC) and ".." not in request.path and "\\" not in request.path
