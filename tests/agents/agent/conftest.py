from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.loopback.openai import OpenAIServer


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[OpenAIServer], None]:
    """Has all sessions of this process answered by a model on loopback."""

    def use(model: OpenAIServer) -> None:
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": model.base_url, "apiKey": "none"},
            "models": {"one": {"limit": {"context": 100_000, "output": 4_000}}},
        }
        config = {"provider": {"fake": provider}, "model": "fake/one", "small_model": "fake/one"}
        monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", json.dumps(config))

    return use
