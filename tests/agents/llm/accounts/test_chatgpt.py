"""ChatGPT: PKCE with a loopback redirect (RFC 7636, 8252), and codes entered elsewhere."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from agents.llm.accounts.flows import chatgpt
from agents.llm.accounts.flows.base import Begun, Refused, SignInFailed, Unreachable, milliseconds
from agents.llm.types import ModelRequest
from tests.agents.llm.asking import model, request
from tests.loopback.accounts import (
    DEVICE_TOKEN,
    OPENAI_TOKEN,
    USER_CODE,
    AccountServer,
    Answer,
    Status,
    openai_tokens,
)


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found = int(probe.getsockname()[1])
    monkeypatch.setenv("OPENCODE_WEB_CHATGPT_PORT", str(found))
    return found


@asynccontextmanager
async def begun() -> AsyncIterator[tuple[Begun, dict[str, str]]]:
    """A sign-in in the browser, and the query of its address."""
    sign_in = await chatgpt.begin_in_browser({})
    try:
        yield sign_in, dict(parse_qsl(urlsplit(sign_in.url).query))
    finally:
        sign_in.close()


async def sent_back(port: int, **query: str) -> httpx.Response:
    """The browser at the loopback address."""
    async with httpx.AsyncClient(trust_env=False) as browser:
        return await browser.get(f"http://127.0.0.1:{port}/auth/callback", params=query)


async def test_the_browser_comes_back_with_a_code(accounts: AccountServer, port: int) -> None:
    accounts.plays(OPENAI_TOKEN, openai_tokens(1))
    async with begun() as (sign_in, query):
        assert query["redirect_uri"] == f"http://localhost:{port}/auth/callback"
        assert query["code_challenge_method"] == "S256"
        finishing = asyncio.create_task(sign_in.finish())
        page = await sent_back(port, code="code-1", state=query["state"])
        entry = await finishing
    assert page.status_code == 200
    assert "close this tab" in page.text
    assert "code-1" not in page.text
    assert (entry["access"], entry["refresh"]) == ("access-1-secret", "refresh-1-secret")
    assert entry["accountId"] == "acc_1"
    assert 3_500_000 < entry["expires"] - milliseconds() <= 3_600_000
    [asked] = accounts.asked(OPENAI_TOKEN)
    assert (asked["code"], asked["redirect_uri"]) == ("code-1", query["redirect_uri"])
    digest = hashlib.sha256(asked["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == query["code_challenge"]


async def test_a_foreign_redirect_ends_nothing(accounts: AccountServer, port: int) -> None:
    accounts.plays(OPENAI_TOKEN, openai_tokens(1))
    async with begun() as (sign_in, query):
        finishing = asyncio.create_task(sign_in.finish())
        for given in ({"code": "evil"}, {"code": "evil", "state": "guess"}, {"error": "x", "state": "ä"}):
            assert (await sent_back(port, **given)).status_code == 400
        assert not finishing.done()
        await sent_back(port, code="right", state=query["state"])
        await finishing
    assert [asked["code"] for asked in accounts.asked(OPENAI_TOKEN)] == ["right"]


async def test_a_code_works_once(accounts: AccountServer, port: int) -> None:
    accounts.plays(OPENAI_TOKEN, openai_tokens(1))
    async with begun() as (sign_in, query):
        first = await sent_back(port, code="one", state=query["state"])
        again = await sent_back(port, code="two", state=query["state"])
        await sign_in.finish()
    assert (first.status_code, again.status_code) == (200, 400)
    assert [asked["code"] for asked in accounts.asked(OPENAI_TOKEN)] == ["one"]
    with pytest.raises(httpx.ConnectError):
        await sent_back(port, code="three", state=query["state"])


async def test_what_openai_says_instead_of_a_code_is_told(accounts: AccountServer, port: int) -> None:
    async with begun() as (sign_in, query):
        page = await sent_back(
            port, error="access_denied", error_description="<b>No</b>", state=query["state"]
        )
        with pytest.raises(SignInFailed, match="<b>No</b>"):
            await sign_in.finish()
    assert "<b>" not in page.text


async def test_a_connection_that_says_nothing_holds_up_nobody(accounts: AccountServer, port: int) -> None:
    accounts.plays(OPENAI_TOKEN, openai_tokens(1))
    async with begun() as (sign_in, query):
        _, silent = await asyncio.open_connection("127.0.0.1", port)
        await sent_back(port, code="one", state=query["state"])
        assert (await sign_in.finish())["access"] == "access-1-secret"
        silent.close()


async def test_only_this_machine_is_listened_to(accounts: AccountServer, port: int) -> None:
    async with begun():
        with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.2", port), timeout=5):
            pass


async def test_a_taken_port_leads_to_a_code(accounts: AccountServer, port: int) -> None:
    accounts.plays(
        DEVICE_TOKEN,
        Status(403, {}),
        Status(404, {}),
        {"authorization_code": "code-2", "code_verifier": "verifier-2", "code_challenge": "c"},
    )
    accounts.plays(OPENAI_TOKEN, openai_tokens(2))
    with socket.socket() as other:
        other.bind(("127.0.0.1", port))
        other.listen()
        sign_in = await chatgpt.begin_in_browser({})
    assert (sign_in.code, sign_in.url) == ("ABCD-1234", f"{accounts.url}/codex/device")

    entry = await sign_in.finish()

    assert entry["access"] == "access-2-secret"
    assert len(accounts.asked(DEVICE_TOKEN)) == 3
    [asked] = accounts.asked(OPENAI_TOKEN)
    assert (asked["code"], asked["code_verifier"]) == ("code-2", "verifier-2")
    assert asked["redirect_uri"] == f"{accounts.url}/deviceauth/callback"


@pytest.mark.parametrize(
    ("path", "answer", "said"),
    [
        (DEVICE_TOKEN, Status(400, {"error": {"message": "expired"}}), "expired"),
        (OPENAI_TOKEN, Status(400, {"error": "invalid_grant"}), "invalid_grant"),
        (OPENAI_TOKEN, {"access_token": "a"}, "status 200"),
    ],
)
async def test_a_refused_code_is_told(accounts: AccountServer, path: str, answer: Answer, said: str) -> None:
    accounts.plays(DEVICE_TOKEN, {"authorization_code": "c", "code_verifier": "v"})
    accounts.plays(path, answer)
    with pytest.raises(SignInFailed, match=said):
        await (await chatgpt.begin_by_code({})).finish()


async def test_an_openai_without_codes(accounts: AccountServer) -> None:
    accounts.plays(USER_CODE, Status(404, {"error": {"message": "Codes are switched off."}}))
    with pytest.raises(SignInFailed, match="switched off"):
        await chatgpt.begin_by_code({})


async def test_a_token_is_renewed(accounts: AccountServer) -> None:
    entry = {"type": "oauth", "refresh": "r", "access": "a", "expires": 1, "accountId": "acc_0"}
    accounts.plays(OPENAI_TOKEN, {"access_token": "a2", "expires_in": 10})
    renewed = await chatgpt.renew(entry)
    assert (renewed["access"], renewed["refresh"], renewed["accountId"]) == ("a2", "r", "acc_0")
    assert accounts.asked(OPENAI_TOKEN)[0]["refresh_token"] == "r"
    accounts.plays(OPENAI_TOKEN, Status(401, {"error": {"message": "refresh_token_reused"}}))
    with pytest.raises(Refused, match="refresh_token_reused"):
        await chatgpt.renew(entry)
    accounts.plays(OPENAI_TOKEN, Status(429, {}))
    with pytest.raises(Unreachable):
        await chatgpt.renew(entry)


def test_the_request_has_the_account_and_nothing_that_is_refused() -> None:
    entry = {"type": "oauth", "refresh": "r", "access": "a", "expires": 1, "accountId": "acc_0"}
    asked: ModelRequest = chatgpt.prepare(request(model(), temperature=0.5), entry)
    assert asked.model.headers["chatgpt-account-id"] == "acc_0"
    assert asked.settings.controls.said() == {}
    assert asked.settings.body["max_output_tokens"] is None
