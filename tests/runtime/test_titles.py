"""The agent `title` is configured as any other: its model, options, variant and temperature count."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Turn
from tests.server import Server, model_config, running, until


@asynccontextmanager
async def naming(
    home: Path, project: Path, **title: Any
) -> AsyncIterator[tuple[Client, OpenAIServer, dict[str, Any]]]:
    """The session after its first prompt, once it has a name."""
    async with OpenAIServer([Turn(text="Hi."), Turn(text="Hi again.")], title="Greeting a stranger") as model:
        config = model_config(model.base_url, agent={"title": title})
        models = config["provider"]["fake"]["models"]
        models["namer"] = {**models["fake"], "variants": {"deep": {"reasoningEffort": "high"}}}
        async with running(Server(home, project, config)) as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Hello there?")
            info = session
            while info["title"] == session["title"]:
                info = (await until(events, "session.updated")).properties["info"]
            yield client, model, info


async def test_the_title_is_asked_for_as_its_agent_says(home: Path, project: Path) -> None:
    title = {
        "model": "fake/namer",
        "variant": "deep",
        "temperature": 0.1,
        "prompt": "Name it in rhyme, as a title.",
        "options": {"user": "me", "ownField": 1},
    }
    async with naming(home, project, **title) as (_, model, info):
        assert info["title"] == "Greeting a stranger"
        (asked,) = model.titles
        assert (asked.body["model"], asked.body["reasoning_effort"]) == ("namer", "high")
        assert (asked.body["temperature"], asked.body["user"], asked.body["ownField"]) == (0.1, "me", 1)
        assert asked.body["messages"][0]["content"] == "Name it in rhyme, as a title."
        assert (await model.wait_for_request()).body["model"] == "fake"


async def test_the_tokens_of_the_title_are_counted(home: Path, project: Path) -> None:
    async with naming(home, project) as (client, _, info):
        await client.prompt(info["id"], "And again?")
        tokens = (await client.session(info["id"]))["tokens"]
        assert (tokens["input"], tokens["output"]) == (30, 15), "those of two steps and a title"


async def test_without_model_or_agent_the_first_line_is_the_title(home: Path, project: Path) -> None:
    for title in ({"model": "fake/nothing"}, {"disable": True}):
        async with naming(home, project, **title) as (_, model, info):
            assert info["title"] == "Hello there?"
            assert model.titles == []
