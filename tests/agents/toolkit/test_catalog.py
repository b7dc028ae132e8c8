from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from agents.config.trust.store import TrustStore, digest
from agents.llm import local as local_module
from agents.llm.auth import save
from agents.llm.local import Endpoint, Local
from agents.llm.providers import UnknownModel
from agents.toolkit import catalog
from sessions.core import paths
from sessions.core.models import Session
from tests.agents.llm.local_servers import listing, serving

BOX = {
    "npm": "@ai-sdk/openai-compatible",
    "options": {"baseURL": "http://box/v1"},
    "models": {"a": {}, "b": {}},
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without configuration, an auth file of its own, nobody to discover."""
    monkeypatch.setattr(settings, "AUTH_FILES", [tmp_path / "auth.json"])
    monkeypatch.setenv(local_module.SWITCH, "1")
    path = tmp_path / "project"
    path.mkdir()
    return path


def configure(project: Path, **config: Any) -> None:
    """The user has trusted it."""
    content = json.dumps(config).encode()
    (project / "opencode.json").write_bytes(content)
    TrustStore(paths.trust()).grant(project, {"opencode.json": digest(content)})


async def test_with_nothing_at_all_the_demo_answers(project: Path) -> None:
    assert await catalog.default_ref(project, None) == "demo/scripted"
    assert (await catalog.default_model(project, None)).protocol == "scripted"


async def test_the_session_comes_before_the_configuration(project: Path) -> None:
    configure(project, provider={"box": BOX}, model="box/b")

    assert await catalog.default_ref(project, Session(provider_id="box", model_id="a")) == "box/a"
    assert await catalog.default_ref(project, Session()) == "box/b"


@pytest.mark.parametrize("general", [{}, {"model": "box/a"}])
async def test_an_agents_model_comes_before_any_other(project: Path, general: dict[str, str]) -> None:
    configure(project, provider={"box": BOX}, agent={"plan": {"model": "box/b"}}, **general)

    assert await catalog.default_ref(project, Session(agent="plan")) == "box/b"
    assert await catalog.default_ref(project, Session(agent="build")) == "box/a"


async def test_the_model_of_an_agent_named_in_the_prompt_comes_before_the_sessions(project: Path) -> None:
    configure(project, provider={"box": BOX}, agent={"plan": {"model": "box/b"}})
    session = Session(agent="build", provider_id="box", model_id="a")

    assert await catalog.default_ref(project, session, "plan") == "box/b"
    assert await catalog.default_ref(project, session, "build") == "box/a"
    planning = Session(agent="plan", provider_id="box", model_id="a")
    assert await catalog.default_ref(project, planning, "plan") == "box/a", "chosen since"


async def test_an_unknown_configured_model_is_named_and_only_asking_for_it_fails(project: Path) -> None:
    configure(project, provider={"box": BOX}, model="box/c", small_model="box/d")

    assert await catalog.default_ref(project, None) == "box/c"
    with pytest.raises(UnknownModel, match="box/c"):
        await catalog.default_model(project, None)
    assert await catalog.small_model(project, "box/a") is None
    assert await catalog.small_model(project, "box/zzz") is None


async def test_what_changes_is_seen_at_the_next_question(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await catalog.providers_of(project)
    assert await catalog.providers_of(project) is first, "nothing changed, nothing is resolved"

    save(settings.AUTH_FILES[0], "groq", {"type": "api", "key": "from-file"})
    assert list(await catalog.providers_of(project)) == ["groq", "demo"]

    monkeypatch.setenv("OPENAI_API_KEY", "from-environment")
    assert list(await catalog.providers_of(project)) == ["openai", "groq", "demo"]

    configure(project, provider={"box": {**BOX, "env": ["BOX_KEY"]}})
    monkeypatch.setenv("BOX_KEY", "one")
    assert (await catalog.model_for(project, "box/a")).api_key == "one"
    monkeypatch.setenv("BOX_KEY", "two")
    assert (await catalog.model_for(project, "box/a")).api_key == "two"


def test_local_models_are_waited_for_only_where_they_are_needed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(local_module.SWITCH)
    with serving({"/v1/models": listing("llama3")}) as (url, asked):

        def afresh() -> None:
            monkeypatch.setattr(catalog, "local", Local({"ollama": Endpoint("Ollama", url)}))

        afresh()
        assert asyncio.run(catalog.default_ref(project, None)) == "ollama/llama3"
        # Another event loop, as the turns have one, and the same answer.
        assert asyncio.run(catalog.model_for(project, "ollama/llama3")).base_url == f"{url}/v1"
        assert asked == ["/v1/models"]
        afresh()
        assert asyncio.run(catalog.model_for(project, "ollama/llama3")).model_id == "llama3"


def test_a_configured_model_waits_for_nobody(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure(project, provider={"box": BOX}, model="box/b")

    class NeverAsked(Local):
        async def wait(self) -> local_module.Found:
            raise AssertionError("a prompt waited for the local servers")

    monkeypatch.setattr(catalog, "local", NeverAsked({}))

    assert asyncio.run(catalog.default_model(project, None)).ref == "box/b"
    assert asyncio.run(catalog.small_model(project, "box/a")) is not None
