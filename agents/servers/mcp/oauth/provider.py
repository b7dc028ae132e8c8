"""The token on a connection's requests: attached, renewed, and asked of nobody.

The SDK's own provider is used for signing in (`flow.py`) and not here: it lets one request at a time through
until its answer has begun, knows neither the end of a token nor where to renew it after a restart, and asks
the person in the middle of a request.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import httpx2

from agents.llm.accounts.flows.base import seconds_in, text_in
from agents.servers.mcp.errors import (
    Ended,
    NeedsAuth,
    NeedsRegistration,
    Refusal,
    ServerFailed,
    SignInFailed,
    Unreachable,
)
from agents.servers.mcp.oauth import attempts, store
from agents.servers.mcp.oauth.flow import NO_CLIENT, Flow, Found
from agents.servers.mcp.oauth.settings import configured, reason_against
from agents.servers.mcp.oauth.store import Kept
from agents.servers.mcp.oauth.web import client, origin
from agents.servers.mcp.server import Server
from sessions.core.files import BrokenFile, locked
from sessions.core.sentences import Sentence

logger = logging.getLogger(__name__)

SOON = 60.0
"""Seconds before its end that a token is renewed."""
_LOOK_SECONDS = 20.0
_PAUSE = 0.1
_SCOPE = re.compile(r'scope="([^"]*)"')


def provider_for(server: Server) -> Signed | None:
    """What signs the requests to a server; None where nobody can sign in."""
    return None if reason_against(server) else Signed(server)


class Signed(httpx2.Auth):
    """Requests raise NeedsAuth or NeedsRegistration when a person has to do something, ServerFailed when a
    token cannot be renewed now. `refusal` is the last such answer, None after a good one."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._origin = origin(server.url)
        self._kept: Kept | None = None
        self._read = False
        self._ended = ""
        self.refusal: Refusal | None = None

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        if origin(str(request.url)) != self._origin:  # the token is for the server that is configured
            yield request
            return
        token = await self._usable()
        response = yield _with(request, token)
        if response.status_code == 401 and (other := await self._usable(refused=token)) not in ("", token):
            response = yield _with(request, other)
        if response.status_code == 401:
            self.refusal = await self._refused(response)
            raise self.refusal
        self.refusal = None
        if response.status_code == 403:
            self._note_scope(response.headers.get("www-authenticate", ""))

    async def _usable(self, refused: str = "") -> str:
        """A token that has not ended and is another than the refused one; empty for none."""
        if not self._read or refused:
            await self._look_up()
        kept = self._kept
        if kept is None or not _is_due(kept, refused):
            return kept.access if kept is not None else ""
        if not kept.refresh:
            return "" if kept.access == refused else kept.access
        async with _alone(self._server):
            await self._look_up()  # another connection, or another process, may have been first
            if self._kept is not None and _is_due(self._kept, refused):
                await self._renew(self._kept, refused)
        return self._kept.access if self._kept is not None else ""

    async def _renew(self, old: Kept, refused: str) -> None:
        try:
            place = old if old.token_endpoint else await self._placed(old)
            new = await renewed(self._server, place)
        except Ended as error:
            logger.warning("the sign-in at the MCP server %s has ended: %s", self._server.name, error)
            self._kept, self._ended, new = None, str(error), None
        except SignInFailed as error:
            if old.access != refused and old.expires > time.time():
                return
            raise ServerFailed(Sentence("cannot be signed in to: %(error)s", error=error)) from error
        else:
            self._kept = new
        try:
            await asyncio.to_thread(store.exchange, self._server, old, new)
        except (BrokenFile, OSError) as error:
            logger.error("the sign-in at the MCP server %s was not kept: %s", self._server.name, error)

    async def _placed(self, old: Kept) -> Kept:
        """With the place where it can be renewed, of an entry that OpenCode has written. Raises
        SignInFailed."""
        found = await Flow(self._server, configured(self._server)).look()
        if found.metadata is None:
            raise Unreachable(Sentence("nobody says where the token is renewed"))
        return replace(
            old,
            token_endpoint=str(found.metadata.token_endpoint),
            resource=found.resource,
            method=found.method(old.client_secret),
        )

    async def _look_up(self) -> None:
        self._kept = await asyncio.to_thread(store.kept, self._server)
        self._read = True

    async def _refused(self, response: httpx2.Response) -> Refusal:
        """What a person has to do after an answer 401."""
        client = configured(self._server)
        found: Found | None = None
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                found = await Flow(self._server, client).look(response)
        except (SignInFailed, TimeoutError) as error:
            logger.info("the MCP server %s asks for a sign-in: %s", self._server.name, error)
        if found is not None and not found.registers and not client.id:
            return NeedsRegistration(NO_CLIENT)
        return NeedsAuth(self._ended)

    def _note_scope(self, challenge: str) -> None:
        """A token that lacks a scope is good for everything else: the next sign-in asks for more (RFC 6750
        §3.1)."""
        found = _SCOPE.search(challenge)
        if "insufficient_scope" in challenge and found is not None:
            had = self._kept.scope.split() if self._kept is not None else []
            attempts.note_scope(self._server, " ".join(dict.fromkeys([*had, *found[1].split()])))


def _with(request: httpx2.Request, token: str) -> httpx2.Request:
    if token:
        request.headers["Authorization"] = f"Bearer {token}"
    return request


def _is_due(kept: Kept, refused: str) -> bool:
    return kept.access == refused or 0 < kept.expires < time.time() + SOON


@asynccontextmanager
async def _alone(server: Server) -> AsyncIterator[None]:
    """Only one of all connections, of all processes, is in here at a time for a server."""
    with ExitStack() as lock:
        while True:
            try:
                lock.enter_context(locked(store.lock_file(server), wait=False))
                break
            except BlockingIOError:
                await asyncio.sleep(_PAUSE)
        yield


# A new token for a refresh token (RFC 6749 §6), which goes to the address that it was made at and no
# other.

_LATER = (408, 429)


async def renewed(server: Server, old: Kept) -> Kept:
    """Raises Ended when the sign-in is over, Unreachable and Unfit when it may not be."""
    form = {
        "grant_type": "refresh_token",
        "refresh_token": old.refresh,
        "client_id": old.client_id,
        **({"resource": old.resource} if old.resource else {}),
        **({"client_secret": old.client_secret} if old.method == "client_secret_post" else {}),
    }
    headers = _basic(old) if old.method == "client_secret_basic" else {}
    async with client(server) as web:
        response = await web.post(old.token_endpoint, data=form, headers=headers)
    answer = _object(response)
    if 400 <= response.status_code < 500 and response.status_code not in _LATER:
        said = text_in(answer, "error_description") or text_in(answer, "error")
        raise Ended(said[:300] or f"status {response.status_code}")
    access = text_in(answer, "access_token")
    if not (response.is_success and access):
        raise Unreachable(
            Sentence("The authorization server answered %(status_code)s.", status_code=response.status_code)
        )
    lasts = seconds_in(answer, "expires_in", 0.0)
    return replace(
        old,
        access=access,
        refresh=text_in(answer, "refresh_token") or old.refresh,
        expires=time.time() + lasts if lasts else 0.0,
        scope=text_in(answer, "scope") or old.scope,
    )


def _basic(old: Kept) -> dict[str, str]:
    """RFC 6749 §2.3.1."""
    shown = f"{quote(old.client_id, safe='')}:{quote(old.client_secret, safe='')}"
    return {"authorization": f"Basic {base64.b64encode(shown.encode()).decode()}"}


def _object(response: httpx2.Response) -> dict[str, Any]:
    try:
        data = response.json()
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
