"""The token on a connection's requests: attached, renewed, and asked of nobody.

The SDK's own provider is used for signing in (`flow.py`) and not here: it lets one request at a time through
until its answer has begun, knows neither the end of a token nor where to renew it after a restart, and asks
the person in the middle of a request.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx2

from agents.llm.auth import BrokenAuthFile
from agents.mcp.errors import NeedsAuth, NeedsRegistration, Refusal, ServerFailed
from agents.mcp.oauth import attempts, store
from agents.mcp.oauth.errors import Ended, SignInFailed, Unreachable
from agents.mcp.oauth.flow import Flow
from agents.mcp.oauth.renewing import renewed
from agents.mcp.oauth.sdk import NO_CLIENT, Found
from agents.mcp.oauth.settings import configured, reason_against
from agents.mcp.oauth.store import Kept
from agents.mcp.oauth.web import origin
from agents.mcp.server import Server

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
            raise ServerFailed(f"cannot be signed in to: {error}") from error
        else:
            self._kept = new
        try:
            await asyncio.to_thread(store.exchange, self._server, old, new)
        except (BrokenAuthFile, OSError) as error:
            logger.error("the sign-in at the MCP server %s was not kept: %s", self._server.name, error)

    async def _placed(self, old: Kept) -> Kept:
        """With the place where it can be renewed, of an entry that OpenCode has written. Raises
        SignInFailed."""
        found = await Flow(self._server, configured(self._server)).look()
        if found.metadata is None:
            raise Unreachable("nobody says where the token is renewed")
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
    while (handle := store.lock(server)) is None:  # noqa: ASYNC110 (another process has it)
        await asyncio.sleep(_PAUSE)
    try:
        yield
    finally:
        os.close(handle)
