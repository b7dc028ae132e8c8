from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from agents.config.schema import ProviderConfig
from agents.llm import trial
from agents.llm.known import KNOWN
from agents.llm.trial import Trial, try_key
from tests.loopback.accounts import AccountServer, Held, Status

KEY = "sk-0123456789wxyz"
MODELS = "/v1/models"


@pytest_asyncio.fixture
async def provider() -> AsyncIterator[AccountServer]:
    async with AccountServer() as server:
        yield server


def entry(server: AccountServer, **more: Any) -> ProviderConfig:
    return {"options": {"baseURL": f"{server.url}/v1/"}, **more}  # type: ignore[typeddict-item]


async def test_a_key_that_opens_the_list_works(provider: AccountServer) -> None:
    provider.plays(MODELS, {"object": "list", "data": [{"id": "a"}, {"id": "b"}]})

    assert await try_key("acme", entry(provider), KEY) == Trial("works", models=2, names=("a", "b"))
    assert provider.headers(MODELS)[0]["authorization"] == f"Bearer {KEY}"


async def test_it_is_sent_as_the_providers_package_sends_it(provider: AccountServer) -> None:
    provider.plays(MODELS, {"models": [{"name": "a"}]})
    for npm, name in {"@ai-sdk/anthropic": "x-api-key", "@ai-sdk/google": "x-goog-api-key"}.items():
        assert (await try_key("acme", entry(provider, npm=npm), KEY)).models == 1
        sent = provider.headers(MODELS)[-1]
        assert sent[name] == KEY
        assert "authorization" not in sent


async def test_headers_of_the_configuration_come_first(provider: AccountServer) -> None:
    provider.plays(MODELS, {"id": "me"})
    written = {"options": {"baseURL": f"{provider.url}/v1", "headers": {"Authorization": "Basic x"}}}

    assert await try_key("acme", written, KEY) == Trial("works")  # type: ignore[arg-type]
    assert provider.headers(MODELS)[0]["authorization"] == "Basic x"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (Status(401, {"error": {"message": f"no such key: {KEY}"}}), "refused"),
        (Status(403, {}), "refused"),
        (Status(400, {"error": {"message": "API key not valid. Please pass a valid one."}}), "refused"),
        (Status(400, {"error": "Incorrect API key provided: sk***yz"}), "refused"),
        (Status(400, {"error": {"message": "page size"}}), "untried"),
        (Status(404, {}), "untried"),
        (Status(429, {}), "untried"),
        (Status(500, {}), "untried"),
    ],
)
async def test_only_a_provider_that_says_so_refuses(
    provider: AccountServer, answer: Status, verdict: str
) -> None:
    provider.plays(MODELS, answer)

    found = await try_key("acme", entry(provider), KEY)

    assert found.verdict == verdict
    assert found.reason
    assert KEY not in found.reason


async def test_nobody_there_and_nobody_who_answers(
    provider: AccountServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    found = await try_key("acme", {"options": {"baseURL": url}}, KEY)
    assert (found.verdict, "connection refused" in found.reason) == ("untried", True)

    monkeypatch.setattr(trial, "SECONDS", 0.05)
    provider.plays(MODELS, Held({}))
    assert (await try_key("acme", entry(provider), KEY)).verdict == "untried"


async def test_a_provider_without_an_address_to_ask_is_not_asked() -> None:
    assert (await try_key("perplexity", {}, KEY)).verdict == "untried"


def test_every_known_address_is_secure() -> None:
    assert all(known.key_url.startswith(("https://", "")) for known in KNOWN.values())
