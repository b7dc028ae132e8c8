"""The addresses that the guard answers itself: login, launch and logout (rules 2 and 16)."""

from __future__ import annotations

import html
import json
from pathlib import Path
from string import Template
from urllib.parse import parse_qs

from django.utils.translation import gettext, override
from django.utils.translation.trans_null import gettext_noop

from opencode_web import languages
from opencode_web.site.security import launch
from opencode_web.site.security.asgi import Receive, Send, TooLarge, read_body, redirect, respond
from opencode_web.site.security.cookies import SessionCookies
from opencode_web.site.security.credentials import Credentials
from opencode_web.site.security.logins import Logins
from opencode_web.site.security.refusal import LOGIN, Refused
from opencode_web.site.security.request import Request
from opencode_web.site.security.throttle import Throttle

STYLE = "/login.css"
LOGOUT = "/logout"
PATHS = frozenset({LOGIN, STYLE, LOGOUT, launch.PATH})

_FORM_REFERRER = (b"referrer-policy", b"same-origin")
"""Under `no-referrer` a browser sends `Origin: null` with a form (Fetch standard §3.2)."""

_FOLDER = Path(__file__).parent
_SPENT = gettext_noop("This link was used before or is too old.")
_WRONG = gettext_noop("That is not the password.")
_TEXTS = {
    "log_in": gettext_noop("Log in"),
    "password": gettext_noop("Password"),
    "no_password": gettext_noop(
        "No password at hand? Run <code>opencode-web url --port %(port)s</code> on the machine where the "
        "server runs and open the link it prints. It works once, for ten minutes."
    ),
    "where": gettext_noop(
        "The password is <code>OPENCODE_SERVER_PASSWORD</code> or, where that is not set, the content of the "
        "file <code>secret</code> in the data folder."
    ),
}


class Pages:
    """Answers requests that the guard has let through; each method is one address and HTTP method."""

    def __init__(
        self,
        credentials: Credentials,
        cookies: SessionCookies,
        logins: Logins,
        throttle: Throttle | None,
        tokens: launch.LaunchTokens,
        has_people: bool = False,
    ) -> None:
        self._credentials = credentials
        self._cookies = cookies
        self._logins = logins
        self._throttle = throttle
        self._tokens = tokens
        self._has_people = has_people
        self._form = Template((_FOLDER / "login.html").read_text(encoding="utf-8"))
        self._style = (_FOLDER / "login.css").read_text(encoding="utf-8")
        self._routes = {
            ("GET", LOGIN): self._show_form,
            ("POST", LOGIN): self._log_in,
            ("GET", STYLE): self._show_style,
            ("GET", launch.PATH): self._launch,
            ("POST", launch.PATH): self._new_launch_url,
            ("POST", LOGOUT): self._log_out,
        }

    async def answer(self, request: Request, receive: Receive, send: Send) -> None:
        """Raise Refused when it comes to nothing."""
        route = self._routes.get((request.method, request.path))
        if route is None:
            raise Refused(405, f"{request.method} is not for this address")
        await route(request, receive, send)

    async def _show_form(self, request: Request, receive: Receive, send: Send) -> None:
        await self._send_form(request, send, 200, _parameter(request, "next"), "")

    async def _log_in(self, request: Request, receive: Receive, send: Send) -> None:
        try:
            body = await read_body(receive)
            form = parse_qs(body.decode("utf-8", "replace"), max_num_fields=4)
        except (TooLarge, ValueError) as error:
            raise Refused(413, "the form is too long") from error
        target = form.get("next", ["/"])[0]
        if self._credentials.verify_password(form.get("password", [""])[0]):
            await redirect(send, _page(request, target), self._cookies.issue(_is_secure(request)))
        else:
            if self._throttle:
                await self._throttle.fail(request.client)
            await self._send_form(request, send, 403, target, _WRONG)

    async def _show_style(self, request: Request, receive: Receive, send: Send) -> None:
        await respond(send, 200, self._style, "text/css")

    async def _launch(self, request: Request, receive: Receive, send: Send) -> None:
        """Where there are people, they sign in, and a launch is for a device of one who has."""
        target = _parameter(request, "next")
        page = _page(request, target)
        found = self._tokens.redeem(_parameter(request, "token"), of_device=self._has_people)
        if found is not None:
            if found.joined is not None:
                await found.joined(request.scope)
            cookie = self._cookies.issue(_is_secure(request), found.login)
            if request.fetch_site in (b"cross-site", b"same-site"):
                await _step_on(send, page, cookie)
            else:
                await redirect(send, page, cookie)
        elif self._has_people or self._cookies.read(request.cookies):
            await redirect(send, page)
        else:
            await self._send_form(request, send, 403, target, _SPENT)

    async def _new_launch_url(self, request: Request, receive: Receive, send: Send) -> None:
        base = f"{request.scope.get('scheme', 'http')}://{request.host.decode('ascii')}{request.base}"
        body = {"url": launch.launch_url(base, self._tokens.issue())}
        await respond(send, 200, json.dumps(body), "application/json")

    async def _log_out(self, request: Request, receive: Receive, send: Send) -> None:
        """End the login of the cookie; with `everywhere` in the form every browser's."""
        try:
            form = parse_qs((await read_body(receive)).decode("latin-1"), max_num_fields=4)
        except (TooLarge, ValueError) as error:
            raise Refused(413, "the form is too long") from error
        session = self._cookies.read(request.cookies)
        if "everywhere" in form:
            await self._logins.end_all()
        elif session:
            await self._logins.end(session)
        cookie = self._cookies.clear(_is_secure(request)).encode("ascii")
        headers = [(b"set-cookie", cookie), (b"hx-redirect", f"{request.base}{LOGIN}".encode())]
        await respond(send, 200, "", headers=headers)

    async def _send_form(self, request: Request, send: Send, status: int, target: str, error: str) -> None:
        language = languages.of_scope(request.scope)
        with override(language, deactivate=True):
            texts = {name: gettext(text) % {"port": self._cookies.port} for name, text in _TEXTS.items()}
            text = self._form.substitute(
                texts,
                base=request.base,
                next=html.escape(launch.local_path(target)),
                error=html.escape(gettext(error)),
                language=language,
            )
        await respond(send, status, text, "text/html", [_FORM_REFERRER])


async def _step_on(send: Send, target: str, cookie: str) -> None:
    """To a page of ours by a page of ours: after a redirect that began elsewhere, also in a file, the browser
    keeps a cookie with SameSite=Strict back (RFC 6265bis §5.2)."""
    address = html.escape(target)
    page = (
        f'<!doctype html><meta http-equiv="refresh" content="0;url={address}"><a href="{address}">Go on</a>'
    )
    await respond(send, 200, page, "text/html", [(b"set-cookie", cookie.encode("ascii"))])


def _page(request: Request, target: str) -> str:
    """The address of the page that a login goes on to; `next` is a path below that of the server."""
    return request.base + launch.local_path(target)


def _parameter(request: Request, name: str) -> str:
    query = request.scope.get("query_string", b"").decode("latin-1")
    return str(parse_qs(query).get(name, [""])[0])


def _is_secure(request: Request) -> bool:
    return request.scope.get("scheme") == "https"
