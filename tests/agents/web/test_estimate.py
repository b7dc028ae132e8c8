"""What a prompt will take of the window, in words, before it is sent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import AsyncClient

from tests.sessions.talk import Talk

pytestmark = pytest.mark.django_db(transaction=True)


def config(**compaction: Any) -> str:
    model = {"limit": {"context": 10_000, "output": 1_000}}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "http://127.0.0.1:9/v1"}}
    return json.dumps(
        {
            "model": "own/small",
            "provider": {"own": {**provider, "models": {"small": model}}},
            "compaction": compaction,
        }
    )


@pytest.fixture
async def talk(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Talk:
    settings.MIDDLEWARE = []
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", config())
    talk = await Talk.begin(tmp_path / "project")
    tokens = {"input": 6_000, "output": 100, "reasoning": 0, "cache": {"read": 0, "write": 0}}
    model = {"providerID": "own", "modelID": "small"}
    await talk.answer(await talk.prompt(), tokens=tokens, cost=0.0, **model)
    return talk


async def told(client: AsyncClient, **asked: Any) -> str:
    """The words, in one line."""
    page = (await client.get("/pickers/estimate", asked)).content.decode()
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


async def test_it_is_told_in_tokens_and_of_the_window(talk: Talk, async_client: AsyncClient) -> None:
    project = {"project": talk.project.id}
    assert await told(async_client, **project, bytes=4_000) == "≈ 1k tokens, 10 % of the window"
    assert await told(async_client, **project, bytes=4_000, files=2) == "≈ 4k tokens, 40 % of the window"
    assert await told(async_client, **project, bytes="-1", files="x") == "≈ 0 tokens, 0 % of the window"
    assert await told(async_client, **project, bytes=4_000, model="no/such") == "≈ 1k tokens"


async def test_what_does_not_fit_is_said(
    talk: Talk, async_client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = {"session": talk.session.id}
    assert await told(async_client, **session, bytes=8_000) == "≈ 2k tokens, 20 % of the window"
    tight = await told(async_client, **session, bytes=16_000)
    assert tight == "≈ 4k tokens, 40 % of the window Only 2.9k are free: the conversation is summed up first."
    large = await told(async_client, **session, bytes=40_000)
    assert large == "≈ 10k tokens, 100 % of the window More than the 9k that this model takes."
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", config(auto=False))
    assert (await told(async_client, **session, bytes=16_000)).endswith("Only 2.9k are free.")
