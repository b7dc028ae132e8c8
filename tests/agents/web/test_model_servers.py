"""Adding a server of models of one's own: asked for its models, written, of use at once."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agents.toolkit.catalog import providers_of
from tests.guarded import GuardedClient
from tests.loopback.accounts import AccountServer, Status
from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)
MODELS = "/v1/models"
KEY = "sk-0123456789wxyz"


class World:
    def __init__(self, talk: Talk, own: Path, server: AccountServer) -> None:
        self.talk = talk
        self.own = own
        self.server = server
        self.client = GuardedClient()

    async def post(self, what: str, **fields: Any) -> tuple[int, str]:
        given = {
            "name": "Our gateway",
            "address": f"{self.server.url}/v1",
            "package": "@ai-sdk/openai-compatible",
        }
        answer = await self.client.post(f"/accounts/server/{what}", {**given, **fields})
        self.headers = answer.headers
        return answer.status_code, unescape(
            re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))
        )


@pytest_asyncio.fixture
async def world(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    settings.MIDDLEWARE = []
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    settings.TRUST_FILE = tmp_path / "trust.json"
    settings.AUTH_FILES = [tmp_path / "auth.json"]
    own = tmp_path / "config" / "opencode" / "opencode.jsonc"
    own.parent.mkdir(parents=True)
    own.write_text('{\n  // mine\n  "username": "Ada"\n}\n')
    async with AccountServer() as server:
        yield World(await Talk.begin(tmp_path / "project"), own, server)


async def test_its_models_are_of_use_at_once(world: World) -> None:
    world.server.plays(MODELS, {"data": [{"id": "large"}, {"id": "small"}]})
    status, said = await world.post("look", key=KEY)
    assert (status, "It has 2 models" in said) == (200, True)
    assert world.server.headers(MODELS)[0]["authorization"] == f"Bearer {KEY}"
    status, _ = await world.post("add", key=KEY, model=["large"], models="tiny\n\n")
    assert status == 200
    assert world.headers["HX-Redirect"] == "/accounts?provider=our-gateway"
    text = world.own.read_text()
    assert "// mine" in text
    assert KEY not in text
    providers = await providers_of(Path(world.talk.session.directory))
    assert sorted(providers["our-gateway"].models) == ["large", "tiny"]
    assert providers["our-gateway"].models["large"].api_key == KEY


async def test_a_server_without_a_key_gets_none(world: World) -> None:
    world.server.plays(MODELS, {"data": []})
    _, said = await world.post("look")
    assert "does not say which models it has" in said
    assert "authorization" not in world.server.headers(MODELS)[0]


async def test_what_it_refuses_is_said(world: World) -> None:
    world.server.plays(MODELS, Status(401, {"error": {"message": "no such key"}}))
    _, said = await world.post("look", key=KEY)
    assert "no such key" in said


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": " "}, "Give it a name"),
        ({"name": "!!"}, "needs a letter"),
        ({"address": "127.0.0.1:8000"}, "begins with http"),
        ({"address": "http://me:secret@127.0.0.1/v1"}, "a field of its own"),
        ({"address": "http://[/"}, "begins with http"),
        ({"package": "evil"}, "Choose what it speaks"),
        ({}, "Name at least one model"),
        ({"name": "Anthropic", "models": "x"}, "There is a provider anthropic already"),
        ({"models": "x", "key": "a\nb"}, "control character"),
        ({"models": "x" * 300}, "too long a name"),
    ],
)
async def test_what_makes_no_server_is_refused(world: World, fields: dict[str, str], words: str) -> None:
    before = world.own.read_text()
    status, said = await world.post("add", **fields)
    assert status == 422
    assert words in said
    assert world.own.read_text() == before
