"""Whole sign-ins at a strict authorization server of another origin."""

from __future__ import annotations

import json
import socket
import stat
from pathlib import Path

import httpx2
import pytest

from agents.servers.mcp.errors import NoClient, NotAsked, SignInFailed
from agents.servers.mcp.oauth import signing
from agents.servers.mcp.oauth.attempts import arrived, attempt_of
from agents.servers.mcp.server import parse
from tests.agents.servers.mcp.oauth.authority import Authority, Protected
from tests.agents.servers.mcp.oauth.conftest import BACK, ORIGIN, SignIn, free_port, remote, sent_back


async def test_a_sign_in_registers_proves_itself_and_is_kept_as_opencode_keeps_it(
    authority: Authority, protected: Protected, sign_in: SignIn, files: list[Path]
) -> None:
    server = remote(protected.address)
    assert (await sign_in(server)).status == "complete"
    assert await signing.signed_in(server)
    registered, asked = dict(authority.seen)["/register"], dict(authority.seen)["/authorize"]
    assert registered["redirect_uris"] == [BACK]
    assert registered["token_endpoint_auth_method"] == "none"
    assert asked["scope"] == "tools:use"
    entry = json.loads(files[0].read_text())["protected"]
    assert entry["serverUrl"] == protected.address
    assert entry["clientInfo"].keys() == {"clientId"}
    assert entry["tokens"].keys() == {"accessToken", "refreshToken", "expiresAt", "scope"}
    assert entry["authorization"]["tokenEndpoint"] == f"{authority.url}/token"
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
    assert all(bearer == "" for _, bearer in protected.bearers), "nothing is called to see whether it works"


async def test_an_answer_counts_once_and_only_with_the_state(protected: Protected, files: list[Path]) -> None:
    server = remote(protected.address)
    attempt = await signing.begin(server, ORIGIN)
    answer = await sent_back(attempt.url)
    for wrong in ({}, {**answer, "state": ""}, {**answer, "state": "x" * 43}, {"code": answer["code"]}):
        assert arrived(wrong) is None
    assert attempt.status == "pending"
    assert arrived(answer) is attempt
    assert arrived(answer) is None
    await signing.finish(attempt)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"code": "", "error": "access_denied", "error_description": "you said no"}, "you said no"),
        ({"code": "somebody-elses"}, "invalid_grant"),
        ({"iss": "https://evil.example"}, "iss mismatch"),
    ],
)
async def test_an_answer_that_is_not_the_right_one(
    protected: Protected, files: list[Path], changed: dict[str, str], words: str
) -> None:
    server = remote(protected.address)
    attempt = await signing.begin(server, ORIGIN)
    assert arrived({**await sent_back(attempt.url), **changed}) is attempt
    with pytest.raises(SignInFailed, match=words):
        await signing.finish(attempt)
    assert attempt.status == "failed"
    assert not files[0].exists()


async def test_nobody_is_waited_for_longer_than_five_minutes(
    protected: Protected, files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert signing.SECONDS == 300
    monkeypatch.setattr(signing, "SECONDS", 2)
    attempt = await signing.begin(remote(protected.address), ORIGIN)
    with pytest.raises(SignInFailed, match="is over"):
        await signing.finish(attempt)
    assert attempt.status == "expired"
    assert arrived(await sent_back(attempt.url)) is None


async def test_a_new_sign_in_takes_the_place_of_the_old(
    protected: Protected, files: list[Path], sign_in: SignIn
) -> None:
    server = remote(protected.address)
    first = await signing.begin(server, ORIGIN)
    await sign_in(server)
    assert (first.status, first.message) == ("failed", "The sign-in was cancelled.")
    assert arrived(await sent_back(first.url)) is None
    assert attempt_of(server) is not first


async def test_a_client_that_was_registered_by_hand_and_a_port_of_its_own(
    authority: Authority, protected: Protected, files: list[Path]
) -> None:
    authority.rules.registers = False
    back = f"http://127.0.0.1:{free_port()}/back"
    authority.knows("mine", back, "a secret/with:marks")
    oauth = {"clientId": "mine", "clientSecret": "a secret/with:marks", "redirectUri": back, "scope": "a b"}
    server = remote(protected.address, oauth=oauth)
    attempt = await signing.begin(server, ORIGIN)
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        elsewhere = await browser.get(back.replace("/back", "/other"))
        page = await browser.get(attempt.url)
        await signing.finish(attempt)
        with pytest.raises(httpx2.ConnectError):
            await browser.get(back)
    assert elsewhere.status_code == 404
    assert "You are signed in to the MCP server protected" in page.text
    assert dict(authority.seen)["/authorize"]["scope"] == "a b"
    assert "client_secret" not in dict(authority.seen)["/token"]


async def test_a_port_that_is_taken_is_said(protected: Protected, files: list[Path]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = remote(protected.address, oauth={"callbackPort": port})
        with pytest.raises(SignInFailed, match=str(port)):
            await signing.begin(server, ORIGIN)


async def test_a_client_that_is_logged_in_here_hands_the_code_over(
    protected: Protected, files: list[Path]
) -> None:
    attempt = await signing.begin(remote(protected.address), ORIGIN)
    answer = await sent_back(attempt.url)
    signing.hand_over(attempt, answer["code"])
    await signing.finish(attempt)
    assert arrived(answer) is None


async def test_where_nobody_registers_clients(
    authority: Authority, protected: Protected, files: list[Path]
) -> None:
    authority.rules.registers = False
    with pytest.raises(NoClient, match=r"oauth\.clientId"):
        await signing.begin(remote(protected.address), ORIGIN)
    assert authority.count("/register") == 0


async def test_servers_that_nobody_signs_in_to(authority: Authority, protected: Protected) -> None:
    authority.tokens.add("")  # whoever comes
    with pytest.raises(NotAsked):
        await signing.begin(remote(protected.address), ORIGIN)
    refused = {
        "does not support OAuth": parse("local", {"type": "local", "command": ["x"]}),
        "has it off": remote(protected.address, oauth=False),
        "Authorization header": remote(protected.address, headers={"authorization": "Bearer x"}),
        "redirectUri": remote(protected.address, oauth={"redirectUri": "https://elsewhere.example/x"}),
    }
    for words, server in refused.items():
        with pytest.raises(SignInFailed, match=words):
            await signing.begin(server, ORIGIN)


async def test_signing_out_forgets(protected: Protected, sign_in: SignIn) -> None:
    server = remote(protected.address)
    await sign_in(server)
    assert await signing.sign_out(server)
    assert not await signing.signed_in(server)
    assert not await signing.sign_out(server)
