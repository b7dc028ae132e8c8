"""`/api/agent`, `/api/model`, `/api/provider`, `/api/command`, `/api/skill`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import pytest_asyncio

from tests.protocol.conftest import repository
from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

NO_CACHE = {"cache": {"read": 0, "write": 0}}
KEY = "sk-a-key-that-nobody-may-see"


@pytest_asyncio.fixture(loop_scope="session")
async def project(served: Served, tmp_path: Path) -> str:
    path = repository(tmp_path)
    model = {
        "release_date": "2026-02-03",
        "variants": {"quick": {"reasoningEffort": "low", "token": KEY}},
        "cost": {"input": 1, "output": 2, "context_over_200k": {"input": 3, "output": 4}},
    }
    provider = {
        "options": {"baseURL": f"http://me:{KEY}@127.0.0.1:9/v1", "apiKey": KEY},
        "models": {"m": model},
    }
    agent = {"mode": "all", "model": "box/m", "variant": "quick", "temperature": 0.5, "prompt": "You help."}
    command = {"template": "Do.", "model": "box/m", "variant": "quick", "agent": "helper", "subtask": True}
    skill = path / ".opencode" / "skill" / "tidy" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: tidy\ndescription: Tidies up.\n---\nTidy.")
    config = {"provider": {"box": provider}, "agent": {"helper": agent}, "command": {"do": command}}
    await served.ask("PATCH", "/config", config, directory=str(path))
    return str(path)


async def test_agents(served: Served, project: str) -> None:
    found = await served.get("/api/agent", **{"location[directory]": project})
    assert found["location"]["directory"] == project
    agents = {agent["id"]: agent for agent in found["data"]}
    assert agents["helper"]["model"] == {"providerID": "box", "id": "m", "variant": "quick"}
    assert agents["helper"]["request"]["body"] == {"temperature": 0.5}
    assert agents["helper"]["system"] == "You help."
    assert {"action": "*", "resource": "*", "effect": "allow"} in agents["build"]["permissions"]


async def test_models_and_providers(served: Served, project: str) -> None:
    models = await served.get("/api/model", directory=project)
    named = {(model["providerID"], model["id"]): model for model in models["data"]}
    assert named.keys() == {("fake", "fake"), ("box", "m"), ("demo", "scripted")}
    box = named["box", "m"]
    assert box["time"] == {"released": 1_770_076_800_000}
    long = {**NO_CACHE, "input": 3, "output": 4, "tier": {"type": "context", "size": 200_000}}
    assert box["cost"] == [{**NO_CACHE, "input": 1, "output": 2}, long]
    shown = await served.get("/config/providers", directory=project)
    listed = {provider["id"]: provider["models"] for provider in shown["providers"]}
    assert listed["box"]["m"]["cost"] == {**NO_CACHE, "input": 1, "output": 2, "tiers": [long]}
    assert "tiers" not in listed["fake"]["fake"]["cost"]
    assert box["variants"] == [
        {"id": "quick", "headers": {}, "body": {"reasoningEffort": "low", "token": "…"}}
    ]
    assert named["fake", "fake"]["capabilities"]["tools"]
    providers = await served.get("/api/provider", directory=project)
    assert {provider["id"] for provider in providers["data"]} == {"fake", "box", "demo"}
    one = await served.get("/api/provider/box", directory=project)
    assert one["data"]["api"] == {
        "type": "aisdk", "package": "@ai-sdk/openai-compatible", "url": "http://…@127.0.0.1:9/v1"
    }  # fmt: skip
    other = await served.get("/api/provider/anthropic", directory=project)
    assert other["data"]["name"] == "Anthropic"
    assert KEY not in json.dumps([models, providers, one])


async def test_commands_and_skills_are_two_lists(served: Served, project: str) -> None:
    commands = await served.get("/api/command", directory=project)
    named = {command["name"]: command for command in commands["data"]}
    assert named["do"] == {
        "name": "do", "template": "Do.", "agent": "helper", "subtask": True,
        "model": {"providerID": "box", "id": "m", "variant": "quick"},
    }  # fmt: skip
    assert "tidy" not in named
    tidy, ours = (await served.get("/api/skill", directory=project))["data"]
    assert ours["name"] == "opencode-web"
    assert (tidy["name"], tidy["content"], tidy["slash"]) == ("tidy", "Tidy.", True)


async def test_what_nobody_knows(served: Served) -> None:
    problem = await served.get("/api/provider/nope", status=404)
    assert problem == {
        "_tag": "ProviderNotFoundError", "providerID": "nope", "message": "Provider not found: nope"
    }  # fmt: skip
    for path in ("/api/agent", "/api/model", "/api/provider", "/api/command", "/api/skill"):
        problem = await served.get(path, directory="/nowhere", status=400)
        assert problem["_tag"] == "InvalidRequestError"
