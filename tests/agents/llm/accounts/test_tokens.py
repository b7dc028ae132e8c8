"""The token of a sign-in: renewed once, whoever asks; an end that is told; another's file left alone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agents.llm.accounts import tokens
from agents.llm.accounts.flows import web
from agents.llm.accounts.flows.base import milliseconds
from agents.llm.auth import remove_key, save
from agents.llm.types import AuthFailed, ModelError
from tests.agents.llm.asking import model, request
from tests.loopback.accounts import (
    EXCHANGE,
    OPENAI_TOKEN,
    AccountServer,
    Held,
    Status,
    openai_tokens,
)

ACCOUNT = tokens.SignedIn("openai")


def entry(lasts: float, access: str = "old-access", **more: Any) -> dict[str, Any]:
    """A sign-in whose token lasts so many seconds from now."""
    expires = milliseconds() + int(lasts * 1000)
    return {"type": "oauth", "refresh": "old-refresh", "access": access, "expires": expires, **more}


async def token(refused: str = "", account: tokens.SignedIn = ACCOUNT) -> str:
    return (await account.authorized(request(model()), refused)).model.api_key


async def test_a_token_that_lasts_is_used(accounts: AccountServer, auth_files: list[Path]) -> None:
    save(auth_files[0], "openai", entry(3600))
    assert await token() == "old-access"
    assert accounts.asked(OPENAI_TOKEN) == []


@pytest.mark.parametrize("lasts", [-10, 60])
async def test_it_is_renewed_once_for_all_who_ask(
    accounts: AccountServer, auth_files: list[Path], lasts: float
) -> None:
    save(auth_files[0], "openai", entry(lasts))
    accounts.plays(OPENAI_TOKEN, openai_tokens(1))

    assert set(await asyncio.gather(*(token() for _ in range(6)))) == {"access-1-secret"}

    assert len(accounts.asked(OPENAI_TOKEN)) == 1
    kept = json.loads(auth_files[0].read_text())["openai"]
    assert (kept["access"], kept["refresh"]) == ("access-1-secret", "refresh-1-secret")


async def test_a_token_refused_before_its_time_is_renewed(
    accounts: AccountServer, auth_files: list[Path]
) -> None:
    save(auth_files[0], "openai", entry(3600))
    accounts.plays(OPENAI_TOKEN, openai_tokens(1))
    both = await asyncio.gather(token("old-access"), token("old-access"))
    assert set(both) == {"access-1-secret"}
    assert len(accounts.asked(OPENAI_TOKEN)) == 1


async def test_a_refused_renewal_signs_out_and_says_so(
    accounts: AccountServer, auth_files: list[Path], caplog: pytest.LogCaptureFixture
) -> None:
    save(auth_files[0], "openai", entry(-10))
    accounts.plays(OPENAI_TOKEN, Status(400, {"error": "invalid_grant"}))

    with pytest.raises(AuthFailed, match=r"signed out of ChatGPT.*invalid_grant.*Sign in again"):
        await token()
    with pytest.raises(AuthFailed, match="signed out of ChatGPT"):
        await token()

    assert len(accounts.asked(OPENAI_TOKEN)) == 1
    assert json.loads(auth_files[0].read_text()) == {}
    assert "invalid_grant" in tokens.ended["openai"]
    assert "old-" not in caplog.text


async def test_a_provider_that_hangs_is_tried_again(
    accounts: AccountServer, auth_files: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "SECONDS", 0.2)
    accounts.plays(OPENAI_TOKEN, Held({}))
    save(auth_files[0], "openai", entry(60))
    assert await token() == "old-access", "it still lasts"
    save(auth_files[0], "openai", entry(-10))
    with pytest.raises(ModelError, match="did not answer") as caught:
        await token()
    assert caught.value.retryable
    assert not isinstance(caught.value, AuthFailed)
    assert "openai" in json.loads(auth_files[0].read_text()), "still signed in"


async def test_a_sign_out_meanwhile_stays_one(accounts: AccountServer, auth_files: list[Path]) -> None:
    gate = asyncio.Event()
    save(auth_files[0], "openai", entry(-10))
    accounts.plays(OPENAI_TOKEN, Held(openai_tokens(1), gate))
    asking = asyncio.create_task(token())
    await accounts.wait_for(OPENAI_TOKEN)
    remove_key(auth_files[0], "openai")
    gate.set()
    await asking
    assert json.loads(auth_files[0].read_text()) == {}


async def test_opencodes_sign_in_is_used_and_not_spent(
    accounts: AccountServer, auth_files: list[Path]
) -> None:
    auth_files[1].write_text(json.dumps({"openai": entry(60)}))
    assert await token() == "old-access"
    auth_files[1].write_text(json.dumps({"openai": entry(-10)}))
    with pytest.raises(AuthFailed, match="only OpenCode may renew it"):
        await token()
    assert accounts.asked(OPENAI_TOKEN) == [], "its refresh token works once"


async def test_copilots_is_exchanged_again_into_our_file(
    accounts: AccountServer, auth_files: list[Path]
) -> None:
    text = json.dumps({"github-copilot": entry(-10, "tid=old")})
    auth_files[1].write_text(text)
    accounts.plays(EXCHANGE, {"token": "tid=new", "expires_at": milliseconds() / 1000 + 1800})
    assert await token(account=tokens.SignedIn("github-copilot")) == "tid=new"
    assert auth_files[1].read_text() == text
    assert json.loads(auth_files[0].read_text())["github-copilot"]["access"] == "tid=new"


async def test_a_token_without_an_end_is_used_until_it_is_refused(
    accounts: AccountServer, auth_files: list[Path]
) -> None:
    save(auth_files[0], "github-copilot", {**entry(0, "gho_1"), "expires": 0})
    account = tokens.SignedIn("github-copilot")
    assert await token(account=account) == "gho_1"
    with pytest.raises(AuthFailed, match="signed out of GitHub Copilot"):
        await token("gho_1", account)
