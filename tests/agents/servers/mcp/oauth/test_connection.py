"""Sign-ins seen from the connection: what it says it needs, and that it comes up once that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.servers.mcp.errors import ServerFailed
from agents.servers.mcp.hub import connection_to
from agents.servers.mcp.oauth import store
from agents.servers.mcp.server import State
from agents.toolkit.children.loop import background
from tests.agents.servers.mcp.oauth.authority import Authority, Protected
from tests.agents.servers.mcp.oauth.conftest import SignIn, remote
from tests.agents.servers.mcp.watching import Watched


async def test_a_connection_waits_for_the_sign_in_and_calls_with_its_token(
    authority: Authority, protected: Protected, sign_in: SignIn, tmp_path: Path
) -> None:
    connection = connection_to(remote(protected.address), tmp_path)
    background.post(connection.start)
    try:
        await background.ask(connection.settled())
        assert connection.state == State("needs_auth")
        assert [bearer for _, bearer in protected.bearers] == [""], "the older transport is not tried"
        watched = Watched(connection)
        await sign_in(connection.server)  # as another process may: nobody tells the connection
        await watched.until_status("connected")
        assert [tool.name for tool in connection.tools] == ["echo"]
        authority.tokens.clear()
        answer = await connection.call(lambda client: client.call_tool("echo", {"text": "again"}))
        assert "text='again'" in str(answer.content), "a token that is refused is renewed within the call"
    finally:
        await connection.close()


async def test_a_connection_whose_sign_in_ends_says_so(
    authority: Authority, protected: Protected, sign_in: SignIn, tmp_path: Path
) -> None:
    server = remote(protected.address)
    await sign_in(server)
    authority.tokens.clear()
    authority.refreshes.clear()
    connection = connection_to(server, tmp_path)
    background.post(connection.start)
    try:
        await background.ask(connection.settled())
        assert connection.state.status == "needs_auth"
        assert "invalid_grant" in connection.state.error
        assert store.kept(server) is None
    finally:
        await connection.close()


async def test_a_call_that_a_sign_in_ended_in_says_so(
    authority: Authority, protected: Protected, sign_in: SignIn, tmp_path: Path
) -> None:
    server = remote(protected.address)
    await sign_in(server)
    connection = connection_to(server, tmp_path)
    background.post(connection.start)
    try:
        await background.ask(connection.settled())
        assert connection.tools
        authority.tokens.clear()
        authority.refreshes.clear()
        for _ in range(2):  # in the middle of the call, and afterwards
            with pytest.raises(ServerFailed, match="A person has to sign in to it first"):
                await connection.call(lambda client: client.call_tool("echo", {"text": "again"}))
            assert connection.state.status == "needs_auth"
    finally:
        await connection.close()


async def test_a_connection_that_needs_a_client(
    authority: Authority, protected: Protected, files: list[Path], tmp_path: Path
) -> None:
    authority.rules.registers = False
    connection = connection_to(remote(protected.address), tmp_path)
    background.post(connection.start)
    try:
        await background.ask(connection.settled())
        assert connection.state.wire()["status"] == "needs_client_registration"
        assert "oauth.clientId" in connection.state.wire()["error"]
    finally:
        await connection.close()
