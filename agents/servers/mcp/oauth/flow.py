"""A sign-in, step by step, by the SDK's provider; this file says with which client, and who carries requests.

The SDK discovers the authorization server, registers a client, and exchanges the code with PKCE, state,
issuer and resource checked. It is driven here request by request, so that a flow can end once it has its
tokens, or once it knows the authorization server. Loaded when a server has asked for a sign-in: it costs half
a second.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urljoin

import httpx2
from django.utils.translation import gettext
from mcp import types
from mcp.client.auth import (
    AuthorizationCodeResult,
    OAuthClientProvider,
    OAuthFlowError,
    OAuthRegistrationError,
    OAuthTokenError,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, OAuthToken
from pydantic import AnyUrl

from agents.llm.accounts.flows.base import USER_AGENT
from agents.servers.mcp.errors import NoClient, NotAsked, SignInFailed
from agents.servers.mcp.oauth.attempts import Answer
from agents.servers.mcp.oauth.settings import Client
from agents.servers.mcp.oauth.store import Kept
from agents.servers.mcp.oauth.web import check, client
from agents.servers.mcp.server import Server
from sessions.core.sentences import Sentence

# The SDK's provider, storage and metadata as a sign-in of ours uses them.

NO_CLIENT = Sentence(
    "Its authorization server registers no clients by itself. Register one there, "
    "and set oauth.clientId in the configuration."
)


@dataclass(frozen=True, slots=True)
class Found:
    """The authorization server of an MCP server; `metadata` is None where it publishes none."""

    metadata: OAuthMetadata | None
    resource: str

    @property
    def registers(self) -> bool:
        """Whether it takes a client that nobody has told it of (RFC 7591)."""
        return self.metadata is None or self.metadata.registration_endpoint is not None

    def lines(self) -> Iterator[str]:
        """What was found, for people."""
        if self.metadata is None:
            yield "The server asks for a sign-in and does not say where"
            return
        yield f"Authorization server: {self.metadata.issuer}"
        yield f"Signing in: {self.metadata.authorization_endpoint}"
        yield f"Tokens: {self.metadata.token_endpoint}"
        yield f"Registration: {self.metadata.registration_endpoint or 'by hand'}"

    def method(self, secret: str) -> str:
        """How a client that is known there shows itself (RFC 8414 §2; the default is in RFC 7591 §2)."""
        if not secret:
            return "none"
        taken = (self.metadata and self.metadata.token_endpoint_auth_methods_supported) or []
        return "client_secret_post" if "client_secret_post" in taken else "client_secret_basic"


class Storage:
    """An SDK `TokenStorage` for one flow: it begins with nothing but the configured client."""

    def __init__(self, known: OAuthClientInformationFull | None) -> None:
        self.known = known
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.known

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.known = client_info


class Provider(OAuthClientProvider):
    """Asks for the scope that is wanted, whatever the server would suggest."""

    scope = ""
    secret = ""

    @property
    def found(self) -> Found:
        return Found(self.context.oauth_metadata, self.context.get_resource_url())

    async def _perform_authorization_code_grant(self) -> tuple[str, str]:
        self.context.client_metadata.scope = self.scope or self.context.client_metadata.scope
        if self.secret and self.context.client_info is not None:
            self.context.client_info.token_endpoint_auth_method = self.found.method(self.secret)
        return await super()._perform_authorization_code_grant()


def known(configured: Client, redirect: str) -> OAuthClientInformationFull | None:
    if not configured.id:
        return None
    return OAuthClientInformationFull(
        client_id=configured.id, client_secret=configured.secret or None, redirect_uris=[AnyUrl(redirect)]
    )


def metadata_of(configured: Client, redirect: str) -> OAuthClientMetadata:
    """What a client registers as (RFC 7591 §2): one that can keep no secret."""
    return OAuthClientMetadata(
        redirect_uris=[AnyUrl(redirect)],
        client_name=USER_AGENT,
        grant_types=["authorization_code", "refresh_token"],
        token_endpoint_auth_method="none",  # noqa: S106 (no password)
        scope=configured.scope or None,
    )


_HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": types.LATEST_PROTOCOL_VERSION,
}
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": types.LATEST_PROTOCOL_VERSION,
        "capabilities": {},
        "clientInfo": {"name": USER_AGENT, "version": "1"},
    },
}
_NOWHERE = "http://127.0.0.1/"
_LONGEST = 300
_FAILURES = (OAuthFlowError, OAuthRegistrationError, OAuthTokenError)

# The SDK logs a stack trace of each flow that fails; the person is told why.
logging.getLogger("mcp.client.auth").setLevel(logging.CRITICAL)


class Flow:
    """One sign-in at `server`, with the browser sent back to `redirect`."""

    def __init__(self, server: Server, configured: Client, redirect: str = _NOWHERE) -> None:
        self._server = server
        self._configured = configured
        self._storage = Storage(known(configured, redirect))
        self._provider = Provider(server.url, metadata_of(configured, redirect), self._storage)
        self._provider.secret = configured.secret

    async def sign_in(
        self, show: Callable[[str], Awaitable[None]], wait: Callable[[], Awaitable[Answer]], scope: str = ""
    ) -> Kept:
        """`show` gets the address for the person's browser, `wait` gives what came back. `scope` is asked for
        instead of what the server suggests. Raises SignInFailed."""

        async def checked(url: str) -> None:
            check(url, self._server)
            await show(url)

        async def came() -> AuthorizationCodeResult:
            answer = await wait()
            metadata = self._provider.found.metadata
            vouched = str(metadata.issuer) if metadata and not answer.by_browser else None
            issuer = answer.issuer if answer.by_browser else vouched
            return AuthorizationCodeResult(code=answer.code, state=answer.state, iss=issuer)

        self._provider.scope = scope or self._configured.scope
        self._provider.context.redirect_handler = checked
        self._provider.context.callback_handler = came
        await self._drive(lambda _: self._storage.tokens is not None)
        return self._kept()

    async def look(self, challenge: httpx2.Response | None = None) -> Found:
        """The authorization server, without asking it for anything: the flow is left before it registers a
        client. `challenge` is an answer 401 of the server; without one it is asked. Raises SignInFailed."""
        self._storage.known = None
        await self._drive(lambda request: request.method == "POST", challenge)
        return self._provider.found

    async def _drive(
        self, done: Callable[[httpx2.Request], bool], challenge: httpx2.Response | None = None
    ) -> None:
        """Carry the flow's requests until the next one is not needed. Raises SignInFailed; NotAsked when the
        server wants no sign-in."""
        refused = False
        async with client(self._server) as web:
            for method in ("POST", "GET"):  # some servers of the older transport know the latter only
                request = self._question(web, method)
                response = challenge or await _asked(web, request)
                refused = refused or response.status_code == 401
                if await self._led(web, request, response, done):
                    return
        raise (
            SignInFailed(Sentence("The server refuses the sign-in."))
            if refused
            else NotAsked(gettext("The server does not ask for a sign-in."))
        )

    async def _led(
        self,
        web: httpx2.AsyncClient,
        request: httpx2.Request,
        response: httpx2.Response,
        done: Callable[[httpx2.Request], bool],
    ) -> bool:
        """Whether the flow that an answer of the server begins came to where it is done."""
        flow = self._provider.async_auth_flow(request)
        try:
            await anext(flow)
            while not done(outgoing := await flow.asend(response)):
                if outgoing.method == "POST" and self._storage.known is None:
                    self._check_registration()
                response = await (_asked(web, outgoing) if outgoing is request else web.send(outgoing))
        except StopAsyncIteration:
            return False
        except (*_FAILURES, httpx2.InvalidURL, ValueError) as error:
            raise SignInFailed(_words(error)) from error
        finally:
            await flow.aclose()
        return True

    def _check_registration(self) -> None:
        """The SDK would try its luck at an address that nobody has named."""
        if not self._provider.found.registers:
            raise NoClient(NO_CLIENT)

    def _question(self, web: httpx2.AsyncClient, method: str) -> httpx2.Request:
        """What a client of MCP asks first, and what the older transport begins with."""
        headers = {**_HEADERS, **dict(self._server.headers)}
        body = _INITIALIZE if method == "POST" else None
        return web.build_request(method, self._server.url, headers=headers, json=body)

    def _kept(self) -> Kept:
        tokens, known, found = self._storage.tokens, self._storage.known, self._provider.found
        assert tokens is not None
        assert known is not None
        place = urljoin(self._server.url, "/token")
        return Kept(
            access=tokens.access_token,
            refresh=tokens.refresh_token or "",
            expires=time.time() + int(tokens.expires_in) if tokens.expires_in else 0.0,
            scope=tokens.scope or "",
            client_id=known.client_id,
            client_secret=known.client_secret or "",
            token_endpoint=str(found.metadata.token_endpoint) if found.metadata else place,
            resource=found.resource,
            method=known.token_endpoint_auth_method or "none",
        )


async def _asked(web: httpx2.AsyncClient, request: httpx2.Request) -> httpx2.Response:
    """The head of an answer, whose body may be a stream without an end."""
    response = await web.send(request, stream=True)
    await response.aclose()
    return response


def _words(error: Exception) -> str:
    return Sentence("The sign-in failed: %(error)s", error=" ".join(str(error).split())[:_LONGEST])
