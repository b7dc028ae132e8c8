"""Keys and sign-ins over the API, and whole turns with a signed-in account. A server of its own: what is
signed in decides which models there are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from agents.llm.accounts.flows.base import milliseconds
from tests.loopback.accounts import (
    DEVICE,
    EXCHANGE,
    GITHUB_TOKEN,
    OPENAI_TOKEN,
    PENDING,
    AccountServer,
    Held,
    Status,
    device_code,
    openai_tokens,
)
from tests.loopback.openai import OpenAIServer
from tests.loopback.responses import ResponsesServer
from tests.loopback.script import HttpError, Turn
from tests.protocol.conftest import repository
from tests.protocol.reference import Reference
from tests.protocol.served import Script, Served
from tests.server import Server

pytestmark = pytest.mark.asyncio(loop_scope="session")

AUTHORIZE = "/provider/{}/oauth/authorize"
CALLBACK = "/provider/{}/oauth/callback"
SECRETS = ("-secret", "gho_", "tid=", "gsk_0123456789")
TRIED: dict[str, Any] = {"models": {"tried": {}}}
CONFIG = {"provider": {"github-copilot": TRIED, "openai": TRIED}}
"""Models that no price table ever retires."""
OURS = "OpenCode answers 500 to this, or takes it"


class Place(Served):
    """The server, with the account servers and two models behind it: `model` is Copilot."""

    accounts: AccountServer
    chatgpt: ResponsesServer

    @property
    def file(self) -> Path:
        return self.server.data / "auth.json"

    def kept(self) -> dict[str, Any]:
        return dict(json.loads(self.file.read_text())) if self.file.exists() else {}

    async def keep(self, provider: str, access: str, lasts: float, **more: Any) -> None:
        """A sign-in whose token lasts so many seconds."""
        expires = milliseconds() + int(lasts * 1000)
        entry = {"type": "oauth", "refresh": f"r-{access}", "access": access, "expires": expires, **more}
        await self.ask("PUT", f"/auth/{provider}", entry)

    async def turn(self, model: str) -> dict[str, Any]:
        """The answer to a prompt in a session of its own."""
        provider, _, name = model.partition("/")
        session = await self.session()
        body = {
            "parts": [{"type": "text", "text": "Hi"}],
            "model": {"providerID": provider, "modelID": name},
        }
        async with asyncio.timeout(30):
            answer = await self.http.post(f"/session/{session}/message", json=body)
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def running(reference: Reference, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Place]:
    home, project = tmp_path_factory.mktemp("home"), repository(tmp_path_factory.mktemp("project"))
    script, answers = Script(), Script()
    async with (
        AccountServer() as accounts,
        OpenAIServer(script) as copilot,
        ResponsesServer(answers) as chatgpt,
    ):
        environ = {
            **accounts.environ,
            "OPENCODE_WEB_COPILOT_URL": copilot.base_url,
            "OPENCODE_WEB_CHATGPT_URL": chatgpt.base_url,
            "OPENCODE_WEB_CHATGPT_PORT": "0",
        }
        server = Server(home, project, CONFIG, environ)
        await asyncio.to_thread(server.start)
        try:
            async with server.client() as client:
                place = Place(server, client, copilot, script, reference)
                place.accounts, place.chatgpt = accounts, chatgpt
                yield place
                await place.http.aclose()
        finally:
            await asyncio.to_thread(server.stop)
        log = server.log()
        assert not [secret for secret in SECRETS if secret in log], "a secret was logged"
        assert "Traceback" not in log


@pytest_asyncio.fixture(loop_scope="session")
async def place(running: Place) -> AsyncIterator[Place]:
    """Nobody signed in, nothing asked yet."""
    yield running
    for provider in running.kept():
        await running.ask("DELETE", f"/auth/{provider}")
    running.accounts.forget()
    running.model.requests.clear()
    running.chatgpt.requests.clear()


async def providers(place: Place) -> list[str]:
    return [item["id"] for item in (await place.get("/config/providers"))["providers"]]


async def test_the_ways_in_are_listed(place: Place) -> None:
    found = await place.get("/provider/auth")
    assert [method["type"] for method in found["openai"]] == ["oauth", "oauth", "api"]
    [copilot] = found["github-copilot"]
    assert [prompt["key"] for prompt in copilot["prompts"]] == ["deploymentType", "enterpriseUrl"]


async def test_entries_of_every_type_are_kept_as_opencode_keeps_them(place: Place) -> None:
    signed_in = {"type": "oauth", "refresh": "r", "access": "a", "expires": 5, "accountId": "acc"}
    known = {"type": "wellknown", "key": "K", "token": "t"}
    await place.ask(
        "PUT", "/auth/groq", {"type": "api", "key": " gsk_0123456789ab\n", "metadata": {"a": "b"}}
    )
    await place.ask("PUT", "/auth/box", {**signed_in, "more": "is dropped"})
    await place.ask("PUT", "/auth/https%3A%2F%2Fexample.com%2F", known)
    assert place.kept() == {
        "groq": {"type": "api", "key": "gsk_0123456789ab", "metadata": {"a": "b"}},
        "box": signed_in,
        "https://example.com": known,
    }
    assert place.file.stat().st_mode & 0o777 == 0o600
    assert "groq" in await providers(place), "at the next request"
    assert await place.ask("DELETE", "/auth/groq") is True
    assert await place.ask("DELETE", "/auth/nobody") is True
    assert "groq" not in await providers(place)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"type": "api", "key": ""}, "key"),
        ({"type": "api", "key": "two\nlines"}, "key"),
        ({"type": "api"}, "key"),
        ({"type": "oauth", "refresh": "r", "access": "", "expires": 0}, "access"),
        ({"type": "oauth", "refresh": "r", "access": "a", "expires": -1}, "expires"),
        ({"type": "password", "key": "k"}, "type"),
        ([], ""),
    ],
)
async def test_what_is_no_entry_is_refused(place: Place, body: Any, field: str) -> None:
    answer = await place.ask("PUT", "/auth/groq", body, status=400, departs=OURS)
    assert field in answer["data"]["message"]
    assert place.kept() == {}


async def test_copilot_by_a_device_code_then_a_turn(place: Place) -> None:
    place.accounts.plays(GITHUB_TOKEN, PENDING, {"access_token": "gho_1"})
    begun = await place.post(AUTHORIZE.format("github-copilot"), {"method": 0})
    assert begun == {
        "url": "https://github.com/login/device",
        "method": "auto",
        "instructions": "Enter code: WDJB-MJHT",
    }
    assert await place.post(CALLBACK.format("github-copilot"), {"method": 0}) is True
    again = await place.post(CALLBACK.format("github-copilot"), {"method": 0}, status=400)
    assert again["name"] == "ProviderAuthOauthMissing"
    assert "github-copilot" in await providers(place)

    place.plays(Turn(text="From Copilot"))
    answer = await place.turn("github-copilot/tried")

    assert answer["parts"][1]["text"] == "From Copilot"
    [asked] = place.model.requests
    assert asked.headers["authorization"] == "Bearer gho_1"
    assert (asked.headers["x-initiator"], asked.body["model"]) == ("user", "tried")


async def test_an_expired_token_is_renewed_once_for_two_turns(place: Place) -> None:
    await place.keep("openai", "access-0-secret", -5, accountId="acc_1")
    gate = asyncio.Event()
    place.accounts.plays(OPENAI_TOKEN, Held(openai_tokens(1), gate))
    turns = asyncio.gather(*(place.turn("openai/tried") for _ in range(2)))
    await place.accounts.wait_for(OPENAI_TOKEN)
    gate.set()

    answers = await turns

    assert [answer["parts"][1]["text"] for answer in answers] == ["Done."] * 2
    [renewal] = place.accounts.asked(OPENAI_TOKEN)
    assert renewal["refresh_token"] == "r-access-0-secret"
    assert {asked.headers["authorization"] for asked in place.chatgpt.requests} == {"Bearer access-1-secret"}
    asked = place.chatgpt.requests[0]
    assert asked.headers["chatgpt-account-id"] == "acc_1"
    assert "max_output_tokens" not in asked.body
    assert place.kept()["openai"]["refresh"] == "refresh-1-secret"


async def test_a_token_refused_by_the_model_is_renewed_and_the_turn_goes_on(place: Place) -> None:
    await place.keep("github-copilot", "tid=old", 3600)
    place.accounts.plays(EXCHANGE, {"token": "tid=new", "expires_at": milliseconds() / 1000 + 1800})
    place.plays(Turn(fault=HttpError(401, "token expired")), Turn(text="Here"))
    answer = await place.turn("github-copilot/tried")
    assert answer["parts"][1]["text"] == "Here"
    tokens = [asked.headers["authorization"] for asked in place.model.requests]
    assert tokens == ["Bearer tid=old", "Bearer tid=new"]


async def test_a_refused_renewal_signs_out_and_the_turn_says_so(place: Place) -> None:
    await place.keep("openai", "access-0-secret", -5)
    place.accounts.plays(OPENAI_TOKEN, Status(400, {"error": "invalid_grant"}))
    answer = await place.turn("openai/tried")
    error = answer["info"]["error"]
    assert error["name"] == "ProviderAuthError"
    assert "You are signed out of ChatGPT" in error["data"]["message"]
    assert place.kept() == {}
    assert place.chatgpt.requests == []


async def test_a_refused_sign_in_is_told(place: Place) -> None:
    place.accounts.plays(GITHUB_TOKEN, {"error": "access_denied"})
    await place.post(AUTHORIZE.format("github-copilot"), {"method": 0})
    told = await place.post(CALLBACK.format("github-copilot"), {"method": 0}, status=400)
    assert told["name"] == "ProviderAuthOauthCallbackFailed"
    assert "cancelled at GitHub" in told["data"]["message"]


@pytest.mark.parametrize(
    ("provider", "body", "name"),
    [
        ("nobody", {"method": 0}, "BadRequest"),
        ("openai", {"method": 2}, "BadRequest"),
        ("openai", {"method": -1}, "BadRequest"),
        ("openai", {"method": "x"}, "BadRequest"),
        ("openai", {}, "BadRequest"),
        ("openai", {"method": 0, "inputs": {"state": "mine"}}, "ProviderAuthValidationFailed"),
        *(
            (
                "github-copilot",
                {"method": 0, "inputs": {"deploymentType": "enterprise", "enterpriseUrl": host}},
                "ProviderAuthValidationFailed",
            )
            for host in ("", "not a host", "localhost", "127.0.0.1:8000", "10.0.0.1", "a" * 5000)
        ),
    ],
)
async def test_a_sign_in_that_cannot_begin(place: Place, provider: str, body: Any, name: str) -> None:
    answer = await place.post(AUTHORIZE.format(provider), body, status=400)
    assert answer["name"] == name
    missing = await place.post(CALLBACK.format(provider), {"method": 0}, status=400)
    assert missing["name"] == "ProviderAuthOauthMissing"


async def test_the_second_protocol_connects_and_forgets(place: Place) -> None:
    await place.post(
        "/api/integration/groq/connect/key", {"key": "gsk_0123456789ab", "label": "Mine"}, status=204
    )
    found = {item["id"]: item for item in (await place.get("/api/integration"))["data"]}
    assert found["groq"]["connections"] == [{"type": "credential", "id": "cred_groq", "label": "Mine"}]
    assert {"type": "env", "names": ["GROQ_API_KEY"]} in found["groq"]["methods"]
    assert "chatgpt-headless" in [method.get("id") for method in found["openai"]["methods"]]
    await place.ask("PATCH", "/api/credential/cred_groq", {"label": "Ours"}, status=204)
    one = await place.get("/api/integration/groq")
    assert one["data"]["connections"][0]["label"] == "Ours"
    assert "gsk_" not in json.dumps([found, one])
    await place.ask("DELETE", "/api/credential/cred_groq", status=204)
    assert (await place.get("/api/integration/groq"))["data"]["connections"] == []
    unknown = await place.ask("GET", "/api/integration/nobody", departs="OpenCode's own answer")
    assert unknown["data"] is None


async def test_the_second_protocols_sign_in(place: Place) -> None:
    connect = "/api/integration/github-copilot/connect/oauth"
    place.accounts.plays(DEVICE, device_code(expires_in=0.3))
    place.accounts.plays(GITHUB_TOKEN, PENDING)
    sign_in = {"methodID": "github-copilot", "inputs": {}}
    late = (await place.post(connect, sign_in))["data"]["attemptID"]
    path = f"/api/integration/attempt/{late}"
    assert (await place.get(path))["data"]["status"] == "pending"
    told = await place.post(f"{path}/complete", {}, status=400)
    assert "time for this sign-in is over" in told["message"]

    place.accounts.plays(DEVICE, device_code())
    gate = asyncio.Event()
    place.accounts.plays(GITHUB_TOKEN, Held({"access_token": "gho_2"}, gate))
    one = (await place.post(connect, sign_in))["data"]["attemptID"]
    await place.ask("DELETE", f"/api/integration/attempt/{one}", status=204)
    await place.ask("GET", f"/api/integration/attempt/{one}", status=400)
    two = (await place.post(connect, {**sign_in, "label": "Work"}))["data"]
    completing = asyncio.create_task(
        place.post(f"/api/integration/attempt/{two['attemptID']}/complete", {}, status=204)
    )
    gate.set()
    await completing
    assert place.kept()["github-copilot"]["metadata"] == {"label": "Work"}


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/api/integration/nobody/connect/key", {"key": "k"}, 400),
        ("POST", "/api/integration/groq/connect/key", {"key": " "}, 400),
        ("POST", "/api/integration/groq/connect/key", {}, 400),
        ("POST", "/api/integration/groq/connect/oauth", {"methodID": "x", "inputs": {}}, 400),
        ("POST", "/api/integration/openai/connect/oauth", {"methodID": "x", "inputs": {}}, 400),
        ("GET", "/api/integration/attempt/nope", None, 400),
        ("POST", "/api/integration/attempt/nope/complete", {}, 400),
        ("DELETE", "/api/integration/attempt/nope", None, 204),
        ("PATCH", "/api/credential/nope", {"label": "x"}, 204),
        ("DELETE", "/api/credential/nope", None, 204),
    ],
)
async def test_what_the_second_protocol_refuses(
    place: Place, method: str, path: str, body: Any, status: int
) -> None:
    await place.ask(method, path, body, status=status)
    assert place.kept() == {}


async def test_no_page_without_a_login_and_no_change_without_its_token(place: Place) -> None:
    async with httpx.AsyncClient(base_url=place.server.url, trust_env=False) as stranger:
        assert (await stranger.get("/accounts")).status_code == 401
        await stranger.get(place.server.launch_url, follow_redirects=True)
        assert (await stranger.get("/accounts")).status_code == 200
        answer = await stranger.post("/accounts/key", data={"provider": "groq", "key": "k"})
        assert answer.status_code == 403
    assert place.kept() == {}
