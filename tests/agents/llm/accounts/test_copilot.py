"""Copilot: GitHub's device codes (RFC 8628) and Copilot's own tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.llm.accounts.flows import copilot
from agents.llm.accounts.flows.base import Begun, InvalidInput, Refused, SignInFailed, Unreachable
from agents.llm.types import ChatMessage, FileContent, TextContent, ToolResultContent
from tests.agents.llm.asking import model, request, user
from tests.loopback.accounts import (
    DEVICE,
    EXCHANGE,
    GITHUB_TOKEN,
    PENDING,
    SOON,
    AccountServer,
    Answer,
    Status,
    device_code,
)

TOKEN = {"access_token": "gho_1", "token_type": "bearer", "scope": "read:user"}


async def finished(accounts: AccountServer, *answers: Answer) -> Any:
    accounts.plays(GITHUB_TOKEN, *answers)
    return await (await copilot.begin({})).finish()


async def test_a_token_that_copilot_takes_as_it_is(accounts: AccountServer) -> None:
    begun = await copilot.begin({"deploymentType": "github.com"})
    assert (begun.code, begun.url) == ("WDJB-MJHT", "https://github.com/login/device")
    assert begun.instructions == "Enter code: WDJB-MJHT"
    slow = {"error": "slow_down", "interval": SOON * 2}
    accounts.plays(GITHUB_TOKEN, PENDING, slow, TOKEN)

    entry = await begun.finish()

    assert entry == {"type": "oauth", "refresh": "gho_1", "access": "gho_1", "expires": 0}
    asked = accounts.asked(GITHUB_TOKEN)
    assert len(asked) == 3
    assert asked[0]["device_code"] == "dev"
    assert asked[0]["grant_type"].endswith(":device_code")
    assert accounts.headers(EXCHANGE)[0]["authorization"] == "token gho_1"


async def test_a_token_that_is_exchanged_and_renewed(accounts: AccountServer) -> None:
    accounts.plays(EXCHANGE, {"token": "tid=1", "expires_at": 2_000_000_000})
    entry = await finished(accounts, TOKEN)
    assert entry == {"type": "oauth", "refresh": "gho_1", "access": "tid=1", "expires": 2_000_000_000_000}

    accounts.plays(EXCHANGE, {"token": "tid=2", "expires_at": 2_000_001_800})
    renewed = await copilot.renew(entry)
    assert (renewed["refresh"], renewed["access"]) == ("gho_1", "tid=2")
    accounts.plays(EXCHANGE, Status(503, {}))
    with pytest.raises(Unreachable):
        await copilot.renew(entry)
    accounts.plays(EXCHANGE, Status(401, {"message": "Bad credentials"}))
    with pytest.raises(Refused, match="Bad credentials"):
        await copilot.renew(entry)


def test_slow_down_without_a_figure_is_five_seconds_more() -> None:
    assert copilot.slower({"error": "slow_down"}, 5) == 10
    assert copilot.slower({"error": "slow_down", "interval": 30}, 5) == 30


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"error": "expired_token"}, "has expired"),
        ({"error": "access_denied"}, "cancelled at GitHub"),
        ({"error": "incorrect_device_code", "error_description": "It is wrong."}, "It is wrong."),
        (Status(500, {}), "status 500"),
    ],
)
async def test_every_end_has_its_words(accounts: AccountServer, answer: Answer, said: str) -> None:
    with pytest.raises(SignInFailed, match=said):
        await finished(accounts, PENDING, answer)


async def test_an_account_without_copilot_is_not_signed_in(accounts: AccountServer) -> None:
    details = {"message": "You have no subscription.", "notification_id": "no_copilot_access"}
    accounts.plays(EXCHANGE, Status(403, {"error_details": details}))
    with pytest.raises(SignInFailed, match="no access to Copilot: You have no subscription"):
        await finished(accounts, TOKEN)


@pytest.mark.parametrize("answer", [Status(404, {}), {}, {"device_code": "d"}, {"user_code": 1}])
async def test_a_github_that_gives_no_code(accounts: AccountServer, answer: Answer) -> None:
    accounts.plays(DEVICE, answer)
    with pytest.raises(SignInFailed, match="gave no code"):
        await copilot.begin({})


async def test_a_github_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_WEB_GITHUB_URL", "http://127.0.0.1:9")
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1 could not be reached"):
        await copilot.begin({})


async def test_the_page_for_the_code_is_a_web_address(accounts: AccountServer) -> None:
    accounts.plays(DEVICE, device_code(verification_uri="javascript:alert(1)"))
    assert (await copilot.begin({})).url == f"{accounts.url}/login/device"


async def test_a_companys_own_github(accounts: AccountServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENCODE_WEB_PRIVATE_HOSTS", "1")
    place = "/company.ghe.com"
    accounts.plays(place + DEVICE, device_code(verification_uri=f"{accounts.url}{place}/login/device"))
    accounts.plays(place + GITHUB_TOKEN, TOKEN)
    given = {"deploymentType": "enterprise", "enterpriseUrl": "https://company.ghe.com/"}

    begun: Begun = await copilot.begin(given)
    entry = await begun.finish()

    assert begun.url == f"{accounts.url}{place}/login/device"
    assert entry["enterpriseUrl"] == "company.ghe.com"
    assert len(accounts.headers(place + EXCHANGE)) == 1
    assert accounts.asked(DEVICE) == [], "github.com hears nothing of it"
    assert copilot.prepare(request(model()), entry).model.base_url == f"{accounts.url}{place}"


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"deploymentType": "else"}, "deploymentType"),
        ({"deploymentType": "enterprise"}, "enterpriseUrl"),
        ({"deploymentType": "enterprise", "enterpriseUrl": "127.0.0.1"}, "enterpriseUrl"),
    ],
)
async def test_wrong_answers_are_named(accounts: AccountServer, given: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await copilot.begin(given)
    assert caught.value.field == field


def test_the_request_says_who_asks_and_with_what(tmp_path: Path) -> None:
    entry = {"type": "oauth", "refresh": "gho_1", "access": "gho_1", "expires": 0}
    image = FileContent("image/png", "AAAA")
    result = ToolResultContent("call_1", "read", "", attachments=[image])

    def headers(*messages: ChatMessage, subagent: bool = False, **more: Any) -> Any:
        asked = request(model(headers={"x-own": "1"}), *messages)
        object.__setattr__(asked, "subagent", subagent)
        return copilot.prepare(asked, {**entry, **more}).model.headers

    asked = headers(user("Hi"))
    assert (asked["x-initiator"], asked["x-own"]) == ("user", "1")
    assert "copilot-vision-request" not in asked
    assert "editor-version" not in asked
    assert headers(user("Hi"), subagent=True)["x-initiator"] == "agent"
    seen = headers(user("Hi"), ChatMessage("assistant", [TextContent("x")]), ChatMessage("tool", [result]))
    assert (seen["x-initiator"], seen["copilot-vision-request"]) == ("agent", "true")
    assert "editor-version" in headers(user("Hi"), expires=1)
