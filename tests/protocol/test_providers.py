"""`/provider` and `/config/providers`: what OpenCode's clients fill their model picker from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.protocol.conftest import repository
from tests.protocol.served import Served

pytestmark = pytest.mark.asyncio(loop_scope="session")

BOX = {
    "npm": "@ai-sdk/anthropic",
    "name": "Box",
    "options": {"baseURL": "http://me:hidden-key@127.0.0.1:9", "apiKey": "hidden-key"},
    "models": {
        "small": {
            "name": "Small",
            "reasoning": True,
            "release_date": "2026-02-03",
            "limit": {"context": 9000, "output": 900},
            "cost": {"input": 1.5, "output": 2},
            "modalities": {"input": ["text", "image"], "output": ["text"]},
            "headers": {"X-Own": "hidden-key"},
            "options": {"temperature": 0.5},
            "variants": {"quick": {"reasoningEffort": "low"}},
        },
        "other": {
            "provider": {"npm": "@ai-sdk/openai-compatible", "api": "http://127.0.0.1:8/v1"},
            "interleaved": {"field": "reasoning_content"},
        },
    },
}


@pytest_asyncio.fixture(loop_scope="session")
async def project(served: Served, tmp_path: Path) -> Path:
    """With a provider of its own, which the user has written."""
    path = repository(tmp_path)
    await served.ask("PATCH", "/config", {"provider": {"box": BOX}}, directory=str(path))
    return path


async def test_all_known_providers_and_those_that_are_connected(served: Served) -> None:
    found = await served.get("/provider")
    by_id = {provider["id"]: provider for provider in found["all"]}
    assert len(by_id) == len(found["all"])
    assert found["connected"] == ["fake", "demo"]
    assert {"anthropic", "openai", "google", "amazon-bedrock"} <= by_id.keys()
    assert by_id["anthropic"]["env"] == ["ANTHROPIC_API_KEY"]
    assert found["default"]["fake"] == "fake"
    assert found["default"]["anthropic"] in by_id["anthropic"]["models"]
    for provider in found["all"]:
        for name, model in provider["models"].items():
            assert (model["providerID"], model["id"]) == (provider["id"], name)
            assert model["limit"]["context"] > 0


async def test_the_configured_model_is_the_default(served: Served) -> None:
    found = await served.get("/config/providers")
    assert [provider["id"] for provider in found["providers"]] == ["fake", "demo"]
    assert found["default"] == {"fake": "fake", "demo": "scripted"}
    (fake, _) = found["providers"]
    assert fake["source"] == "config"
    model = fake["models"]["fake"]
    assert model["limit"] == {"context": 200_000, "output": 8192}
    assert model["capabilities"]["toolcall"] is True
    assert model["capabilities"]["input"]["image"] is True


async def test_a_model_as_it_is_configured_and_no_secret(served: Served, project: Path) -> None:
    found = await served.get("/config/providers", directory=str(project))
    (box,) = (provider for provider in found["providers"] if provider["id"] == "box")
    model: dict[str, Any] = box["models"]["small"]
    assert model["api"] == {"id": "small", "url": "http://…@127.0.0.1:9/v1", "npm": "@ai-sdk/anthropic"}
    assert model["cost"] == {"input": 1.5, "output": 2, "cache": {"read": 0, "write": 0}}
    assert model["capabilities"]["input"] == {
        "text": True, "audio": False, "image": True, "video": False, "pdf": False
    }  # fmt: skip
    assert model["variants"]["quick"] == {"reasoningEffort": "low"}
    assert model["release_date"] == "2026-02-03"
    other: dict[str, Any] = box["models"]["other"]
    assert other["api"] == {
        "id": "other", "url": "http://127.0.0.1:8/v1", "npm": "@ai-sdk/openai-compatible",
    }  # fmt: skip
    assert other["capabilities"]["interleaved"] == {"field": "reasoning_content"}
    assert model["capabilities"]["interleaved"] is False
    assert "hidden-key" not in json.dumps([found, await served.get("/provider", directory=str(project))])


async def test_a_disabled_provider_is_nowhere(served: Served, project: Path) -> None:
    await served.ask("PATCH", "/config", {"disabled_providers": ["box", "openai"]}, directory=str(project))
    found = await served.get("/provider", directory=str(project))
    assert not {"box", "openai"} & {provider["id"] for provider in found["all"]}
    assert "box" not in found["connected"]


async def test_a_folder_that_does_not_exist(served: Served) -> None:
    for path in ("/provider", "/config/providers", "/config", "/agent", "/mcp", "/lsp", "/formatter"):
        problem = await served.get(path, directory="/nowhere", status=404, departs="ours alone refuse it")
        assert problem["name"] == "NotFoundError"
