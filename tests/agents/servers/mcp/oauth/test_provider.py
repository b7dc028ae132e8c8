"""Tokens on requests: attached, renewed, kept from others."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from agents.servers.mcp.errors import NeedsAuth, NeedsRegistration, ServerFailed
from agents.servers.mcp.oauth import attempts, store
from agents.servers.mcp.oauth.provider import Signed, provider_for
from agents.servers.mcp.server import Server, parse
from tests.agents.servers.mcp.oauth.authority import Authority, Protected
from tests.agents.servers.mcp.oauth.conftest import SignIn, remote

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}


async def call(server: Server, auth: httpx2.Auth | None = None, url: str = "") -> httpx2.Response:
    async with httpx2.AsyncClient(auth=auth or Signed(server)) as web:
        return await web.post(url or server.url, json=INITIALIZE, headers=ACCEPT)


def aged(server: Server, **changed: Any) -> store.Kept:
    """What is kept, changed."""
    found = store.kept(server)
    assert found is not None
    made = store.Kept(**{**{name: getattr(found, name) for name in found.__slots__}, **changed})
    store.exchange(server, found, made)
    return found


async def test_a_token_is_sent_to_its_server_and_to_no_other_origin(
    protected: Protected, sign_in: SignIn
) -> None:
    server = remote(protected.address)
    await sign_in(server)
    assert (await call(server)).status_code == 200
    with Protected(protected.authority) as other:
        await call(server, url=other.address)
        assert other.bearers == [("/mcp", "")]


async def test_nothing_is_kept_for_another_url(protected: Protected, sign_in: SignIn) -> None:
    await sign_in(remote(protected.address))
    with Protected(protected.authority) as other, pytest.raises(NeedsAuth):
        await call(remote(other.address))
    assert other.bearers == [("/mcp", "")]


async def test_a_token_is_renewed_before_it_ends_and_once_for_all(
    authority: Authority, protected: Protected, sign_in: SignIn, files: list[Path]
) -> None:
    server = remote(protected.address)
    await sign_in(server)
    old = aged(server, expires=time.time() + 30)
    answers = await asyncio.gather(*(call(server) for _ in range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4
    assert authority.count("/token") == 2, "the code's, and one renewal"
    new = store.kept(server)
    assert new is not None
    assert new.refresh not in ("", old.refresh)
    assert {bearer for _, bearer in protected.bearers if bearer} == {f"Bearer {new.access}"}


async def test_a_token_that_is_refused_is_renewed_once(
    authority: Authority, protected: Protected, sign_in: SignIn
) -> None:
    server = remote(protected.address)
    await sign_in(server)
    authority.tokens.clear()
    assert (await call(server)).status_code == 200
    assert authority.count("/token") == 2


async def test_a_refresh_token_that_does_not_rotate_stays(
    authority: Authority, protected: Protected, sign_in: SignIn
) -> None:
    authority.rules.rotates = False
    server = remote(protected.address)
    await sign_in(server)
    old = aged(server, expires=1.0)
    assert (await call(server)).status_code == 200
    new = store.kept(server)
    assert new is not None
    assert new.refresh == old.refresh
    assert new.access != old.access


async def test_a_sign_in_that_is_not_renewed_has_ended(
    authority: Authority, protected: Protected, sign_in: SignIn, files: list[Path]
) -> None:
    server = remote(protected.address)
    await sign_in(server)
    authority.tokens.clear()
    authority.refreshes.clear()
    auth = Signed(server)
    with pytest.raises(NeedsAuth, match="invalid_grant"):
        await call(server, auth)
    assert isinstance(auth.refusal, NeedsAuth)
    assert json.loads(files[0].read_text()) == {}


async def test_an_authorization_server_that_is_away_ends_nothing(
    authority: Authority, protected: Protected, sign_in: SignIn
) -> None:
    server = remote(protected.address)
    await sign_in(server)
    aged(server, expires=time.time() + 30, token_endpoint="http://127.0.0.1:9/token")
    assert (await call(server)).status_code == 200, "it is still good"
    aged(server, expires=1.0)
    with pytest.raises(ServerFailed, match="could not be reached"):
        await call(server)
    assert store.kept(server) is not None


async def test_what_opencode_has_kept_is_used_and_never_renewed(
    authority: Authority, protected: Protected, files: list[Path], sign_in: SignIn
) -> None:
    server = remote(protected.address)
    await sign_in(server)
    entries = json.loads(files[0].read_text())
    del entries["protected"]["authorization"]
    files[1].write_text(json.dumps(entries))
    files[0].unlink()
    assert (await call(server)).status_code == 200
    authority.tokens.clear()
    with pytest.raises(NeedsAuth):
        await call(server)
    assert authority.count("/token") == 1
    assert json.loads(files[1].read_text()) == entries


async def test_an_entry_that_opencode_wrote_into_our_file_is_renewed_where_it_belongs(
    authority: Authority, protected: Protected, files: list[Path], sign_in: SignIn
) -> None:
    server = remote(protected.address)
    await sign_in(server)
    entries = json.loads(files[0].read_text())
    del entries["protected"]["authorization"]
    files[0].write_text(json.dumps(entries))
    authority.tokens.clear()
    assert (await call(server)).status_code == 200
    assert store.kept(server).token_endpoint == f"{authority.url}/token"  # type: ignore[union-attr]


async def test_what_a_person_has_to_do(authority: Authority, protected: Protected, files: list[Path]) -> None:
    with pytest.raises(NeedsAuth):
        await call(remote(protected.address))
    authority.rules.registers = False
    with pytest.raises(NeedsRegistration, match=r"oauth\.clientId"):
        await call(remote(protected.address))
    with pytest.raises(NeedsAuth):
        await call(remote(protected.address, oauth={"clientId": "mine"}))
    assert authority.seen == [], "nobody was registered, and nothing asked for"


async def test_more_scope_is_asked_for_at_the_next_sign_in(
    authority: Authority, protected: Protected, sign_in: SignIn
) -> None:
    server = remote(protected.address)
    await sign_in(server)
    protected.lacks = "tools:write"
    assert (await call(server)).status_code == 403
    protected.lacks = ""
    await sign_in(server)
    assert dict(authority.seen)["/authorize"]["scope"] == "tools:use tools:write"
    assert attempts.noted_scope(server) == "tools:use tools:write"


def test_servers_without_a_sign_in_have_none() -> None:
    assert provider_for(parse("x", {"type": "local", "command": ["x"]})) is None
    assert provider_for(remote("https://one.example/mcp", oauth=False)) is None
    assert provider_for(remote("https://one.example/mcp", headers={"Authorization": "x"})) is None
    assert provider_for(remote("https://one.example/mcp")) is not None
