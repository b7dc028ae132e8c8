"""A strict OAuth authorization server on loopback, and an MCP server of the SDK that takes its tokens alone.

Both are origins of their own. Sources: RFC 6749, 7591, 7636, 8414, 8707, 9207, 9728.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import socket
import threading
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import unquote, urlencode

import uvicorn
from mcp.server import MCPServer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

Json = dict[str, Any]


class Running:
    """An ASGI application on a free port, in a thread, until the end of the `with`."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def application(self) -> ASGIApp:
        raise NotImplementedError

    def __enter__(self) -> Self:
        config = uvicorn.Config(self.application(), log_level="critical", timeout_graceful_shutdown=0)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(10)
        self._socket.close()


@dataclass
class Grant:
    """What a code or a refresh token is good for."""

    client: str
    redirect: str
    challenge: str
    resource: str
    scope: str


@dataclass
class Rules:
    """`lasts`: seconds of an access token. `rotates`: a refresh token works once. `registers`: clients may
    register themselves. `changed` replaces keys of the metadata; None takes one away."""

    lasts: int = 3600
    rotates: bool = True
    registers: bool = True
    scope: str = "tools:use"
    changed: Json = field(default_factory=dict)


class Authority(Running):
    """`seen` has (path, form or query) of each request that came to it; `clients` are id -> record. With
    `moved` tokens are at that address, with `circles` the metadata is where it is."""

    def __init__(self, rules: Rules | None = None) -> None:
        super().__init__()
        self.rules = rules or Rules()
        self.resource = ""
        self.clients: dict[str, Json] = {}
        self.codes: dict[str, Grant] = {}
        self.refreshes: dict[str, Grant] = {}
        self.tokens: set[str] = set()
        self.seen: list[tuple[str, Json]] = []
        self.moved = ""
        self.circles = False

    def application(self) -> ASGIApp:
        app = Starlette()
        app.add_route("/.well-known/oauth-authorization-server", self._metadata)
        app.add_route("/register", self._register, methods=["POST"])
        app.add_route("/authorize", self._authorize)
        app.add_route("/token", self._token, methods=["POST"])
        return app

    def knows(self, client: str, redirect: str, secret: str = "") -> None:
        """Register a client by hand."""
        method = "client_secret_basic" if secret else "none"
        self.clients[client] = {
            "redirect_uris": [redirect],
            "client_secret": secret,
            "token_endpoint_auth_method": method,
        }

    def count(self, path: str) -> int:
        return sum(seen == path for seen, _ in self.seen)

    async def _metadata(self, request: Request) -> Response:
        if self.circles:
            return RedirectResponse(str(request.url), 302)
        told: Json = {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register" if self.rules.registers else None,
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            "authorization_response_iss_parameter_supported": True,
            **self.rules.changed,
        }
        return JSONResponse({key: value for key, value in told.items() if value is not None})

    async def _register(self, request: Request) -> Response:
        asked = await request.json()
        self.seen.append(("/register", asked))
        if not self.rules.registers or not asked.get("redirect_uris"):
            return _error("invalid_client_metadata")
        client = f"client-{secrets.token_hex(4)}"
        self.clients[client] = asked
        return JSONResponse({**asked, "client_id": client}, 201)

    async def _authorize(self, request: Request) -> Response:
        """The person agrees at once."""
        asked = dict(request.query_params)
        self.seen.append(("/authorize", asked))
        client = self.clients.get(asked.get("client_id", ""))
        if client is None or asked.get("redirect_uri") not in client["redirect_uris"]:
            return _error("invalid_request")
        right = (
            asked.get("response_type") == "code"
            and asked.get("code_challenge_method") == "S256"
            and asked.get("code_challenge")
            and asked.get("resource") == self.resource
            and len(asked.get("state", "")) >= 32
        )
        if not right:
            told = {"error": "invalid_request", "state": asked.get("state", "")}
            return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(told)}", 302)
        code = secrets.token_urlsafe(24)
        self.codes[code] = Grant(
            asked["client_id"],
            asked["redirect_uri"],
            asked["code_challenge"],
            asked["resource"],
            asked.get("scope", ""),
        )
        told = {"code": code, "state": asked["state"], "iss": self.url}
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(told)}", 302)

    async def _token(self, request: Request) -> Response:
        form: Json = dict(await request.form())
        if self.moved:
            return RedirectResponse(self.moved, 307)
        self.seen.append(("/token", form))
        client_id = self._client(request, form)
        if client_id is None:
            return _error("invalid_client", 401)
        if form.get("resource") != self.resource:
            return _error("invalid_target")
        if form.get("grant_type") == "refresh_token":
            grant = self.refreshes.get(form.get("refresh_token", ""))
            if grant is not None and self.rules.rotates:
                del self.refreshes[form["refresh_token"]]
        else:
            grant = self._redeemed(form)
        if grant is None or grant.client != client_id:
            return _error("invalid_grant")
        return JSONResponse(self._issue(grant, form))

    def _redeemed(self, form: Json) -> Grant | None:
        """What a code is good for, once, to whoever knows what its challenge was made of."""
        grant = self.codes.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        proven = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if grant is None or grant.challenge != proven or grant.redirect != form.get("redirect_uri"):
            return None
        return grant

    def _issue(self, grant: Grant, form: Json) -> Json:
        access, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        self.tokens.add(access)
        if self.rules.rotates or form.get("grant_type") != "refresh_token":
            self.refreshes[refresh] = grant
        else:
            refresh = ""
        told = {"access_token": access, "token_type": "Bearer", "expires_in": self.rules.lasts}
        return {**told, "scope": grant.scope} | ({"refresh_token": refresh} if refresh else {})

    def _client(self, request: Request, form: Json) -> str | None:
        """The client that has shown itself as it has to."""
        scheme, _, rest = request.headers.get("authorization", "").partition(" ")
        if scheme == "Basic":
            name, secret = map(unquote, base64.b64decode(rest).decode().split(":", 1))
        else:
            name, secret = form.get("client_id", ""), form.get("client_secret", "")
        known = self.clients.get(name)
        return name if known is not None and secret == (known.get("client_secret") or "") else None


class Protected(Running):
    """An MCP server at `/mcp` with a tool `echo`. `bearers` are the Authorization headers that came, with the
    path; `told` replaces keys of its metadata; `lacks` is a scope that no token has."""

    def __init__(self, authority: Authority, told: Json | None = None) -> None:
        super().__init__()
        self.authority = authority
        self.address = f"{self.url}/mcp"
        authority.resource = self.address
        self.told = told or {}
        self.lacks = ""
        self.bearers: list[tuple[str, str]] = []

    def application(self) -> ASGIApp:
        server = MCPServer("protected")

        @server.tool()
        def echo(text: str) -> str:
            """Give it back."""
            return text

        inner = server.streamable_http_app(json_response=True)

        async def guard(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await inner(scope, receive, send)
                return
            request = Request(scope)
            if request.url.path.startswith("/.well-known/oauth-protected-resource"):
                await JSONResponse(self._metadata())(scope, receive, send)
                return
            given = request.headers.get("authorization", "")
            self.bearers.append((request.url.path, given))
            if given.removeprefix("Bearer ") not in self.authority.tokens:
                await self._challenge()(scope, receive, send)
                return
            if self.lacks:
                told = f'Bearer error="insufficient_scope", scope="{self.lacks}"'
                await Response("no", 403, {"WWW-Authenticate": told})(scope, receive, send)
                return
            await inner(scope, receive, send)

        return guard

    def _metadata(self) -> Json:
        return {
            "resource": self.address,
            "authorization_servers": [self.authority.url],
            "scopes_supported": [self.authority.rules.scope],
            **self.told,
        }

    def _challenge(self) -> Response:
        place = f"{self.url}/.well-known/oauth-protected-resource/mcp"
        headers = {"WWW-Authenticate": f'Bearer error="invalid_token", resource_metadata="{place}"'}
        return Response("no", 401, headers)


def _error(name: str, status: int = 400) -> Response:
    return JSONResponse({"error": name, "error_description": f"refused: {name}"}, status)
