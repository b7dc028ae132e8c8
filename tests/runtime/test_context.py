"""The System Context over whole turns: a prefix that never changes, news told once, prompts that wait."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bench.client import Event
from tests.loopback.anthropic import AnthropicServer
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Body, HttpError, ToolUse, Turn
from tests.loopback.server import LoopbackServer
from tests.server import Server, model_config, running, until
from tests.text_server import TextServer

BOTH = pytest.mark.parametrize(
    ("server_class", "npm"),
    [(OpenAIServer, "@ai-sdk/openai-compatible"), (AnthropicServer, "@ai-sdk/anthropic")],
)
TABS, SPACES = "Indent with tabs.", "Indent with spaces."


def with_models(base_url: str, npm: str = "@ai-sdk/openai-compatible", **more: Any) -> dict[str, Any]:
    """Two models, and an agent beside the built-in ones."""
    config = model_config(base_url, npm, **more)
    models = config["provider"]["fake"]["models"]
    models["other"] = {**models["fake"], "name": "Other"}
    return {**config, "agent": {"second": {"mode": "primary", "description": "Another one."}}}


def system_of(body: Body) -> str:
    """The system texts, as they are sent before the conversation."""
    first = body["messages"][0]
    return json.dumps(body["system"] if "system" in body else first["content"])


def said(body: Body) -> list[str]:
    """The conversation as a flat list of contents with their roles, without cache marks, which move."""
    flat = []
    for message in body["messages"]:
        if message["role"] != "system":
            content = message["content"]
            for item in content if isinstance(content, list) else [content]:
                kept = (
                    {key: value for key, value in item.items() if key != "cache_control"}
                    if isinstance(item, dict)
                    else item
                )
                flat.append(json.dumps([message["role"], kept, message.get("tool_calls")]))
    return flat


def news(body: Body) -> int:
    """How many system messages the conversation holds."""
    return "".join(said(body)).count("<context-update>")


def check_prefix(bodies: Sequence[Body]) -> None:
    for earlier, later in pairwise(bodies):
        assert system_of(later) == system_of(earlier)
        assert said(later)[: len(said(earlier))] == said(earlier)
        assert len(said(later)) > len(said(earlier))


def acting(step: Callable[[int], None], steps: int) -> Callable[[Body], Turn]:
    """Steps with a tool call each; `step` gets the number of each request, from 1, before it is answered."""
    count = 0

    def play(_: Body) -> Turn:
        nonlocal count
        count += 1
        step(count)
        if count % steps == 0:
            return Turn(text="Done.")
        return Turn(tools=[ToolUse("bash", {"command": f"echo {count}", "description": "Count"})])

    return play


@BOTH
async def test_rules_of_a_sub_folder_count_from_the_first_read_or_edit_in_it(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str
) -> None:
    deep, other = project / "sub" / "deep", project / "other"
    for folder in (deep, other):
        folder.mkdir(parents=True)
        (folder / "mod.py").write_text("a = 1\n")
    (project / "sub" / "AGENTS.md").write_text(TABS)
    (deep / "CLAUDE.md").write_text("Write no comments.")
    (other / "AGENTS.md").write_text("Ask before you change this.")
    read = ToolUse("read", {"filePath": "sub/deep/mod.py"})
    steps = [
        Turn(tools=[read, ToolUse("read", {"filePath": "hello.py"})]),
        Turn(tools=[read]),
        Turn(tools=[ToolUse("write", {"filePath": "other/new.py", "content": "b = 2\n"})]),
        Turn(tools=[read]),
        Turn(text="Done."),
    ]

    def play(_: Body) -> Turn:
        if len(steps) == 2:
            (project / "sub" / "AGENTS.md").write_text(SPACES)
        return steps.pop(0)

    async with server_class(play) as model:
        async with running(Server(home, project, with_models(model.base_url, npm))) as client:
            session = await client.create_session(title="named")
            await client.prompt(session["id"], "Read, then write.")
        bodies = [request.body for request in model.requests]
    check_prefix(bodies)
    assert [news(body) for body in bodies] == [0, 1, 1, 2, 3]
    told = said(bodies[1])[-1]
    assert told.index(TABS) < told.index("Write no comments.")
    assert f"Instructions from: {project}/sub/AGENTS.md" in told
    assert "Ask before you change this." in said(bodies[3])[-1]
    assert "have changed" in said(bodies[4])[-1]
    assert SPACES in said(bodies[4])[-1]
    assert "Write no comments." not in said(bodies[4])[-1]


async def test_rules_of_a_sub_folder_come_with_an_attached_file_and_stay_known(
    home: Path, project: Path
) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "AGENTS.md").write_text(TABS)
    attached = {
        "type": "file",
        "mime": "text/plain",
        "filename": "sub/mod.py",
        "url": (project / "sub" / "mod.py").as_uri(),
    }
    (project / "sub" / "mod.py").write_text("a = 1\n")
    script = [Turn(text="One."), Turn(text="Two."), Turn(text="Three.")]
    async with OpenAIServer(script) as model:
        server = Server(home, project, with_models(model.base_url))
        async with running(server) as client:
            session = await client.create_session(title="named")
            parts = [{"type": "text", "text": "Look at it."}, attached]
            await client.post(f"/session/{session['id']}/message", {"parts": parts})
            await client.prompt(session["id"], "Go on.")
        (project / "sub" / "AGENTS.md").unlink()
        async with running(server) as client:
            await client.prompt(session["id"], "Go on.")
        bodies = [request.body for request in model.requests]
    assert [news(body) for body in bodies] == [1, 1, 2]
    assert TABS in said(bodies[0])[-1]
    assert "no longer apply" in said(bodies[2])[-1]


async def test_rules_named_by_the_configuration_are_told_once(home: Path, project: Path) -> None:
    (project / "sub").mkdir()
    (project / "sub" / "AGENTS.md").write_text(TABS)
    (project / "sub" / "mod.py").write_text("a = 1\n")
    steps = [Turn(tools=[ToolUse("read", {"filePath": "sub/mod.py"})]), Turn(text="Done.")]
    async with OpenAIServer(steps) as model:
        config = with_models(model.base_url, instructions=["sub/AGENTS.md"])
        async with running(Server(home, project, config)) as client:
            session = await client.create_session(title="named")
            await client.prompt(session["id"], "Read.")
        bodies = [request.body for request in model.requests]
    assert TABS in system_of(bodies[0])
    assert [news(body) for body in bodies] == [0, 0]


@BOTH
async def test_ten_steps_with_changes_keep_the_prefix(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str
) -> None:
    def step(number: int) -> None:
        if number == 3:
            (project / "AGENTS.md").write_text(SPACES)
            (project / "new.txt").write_text("no news")
        if number == 6:
            (project / "AGENTS.md").unlink()

    (project / "AGENTS.md").write_text(TABS)
    async with server_class(acting(step, 10)) as model:
        async with running(Server(home, project, with_models(model.base_url, npm))) as client:
            session = await client.create_session(title="named")
            await client.prompt(session["id"], "Count to ten.")
        bodies = [request.body for request in model.requests]
    assert len(bodies) == 10
    check_prefix(bodies)
    assert TABS in system_of(bodies[9])
    assert [news(body) for body in bodies] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    assert SPACES in said(bodies[3])[-1]
    assert "no longer apply" in said(bodies[6])[-1]


async def test_two_changes_at_one_boundary_are_one_message(home: Path, project: Path) -> None:
    async with (
        OpenAIServer([Turn(text="One."), Turn(text="Two."), Turn(text="Three.")]) as model,
        running(Server(home, project, with_models(model.base_url))) as client,
        client.events() as events,
    ):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "First.")
        await client.prompt(session["id"], "Second.", agent="second")
        (project / "AGENTS.md").write_text(TABS)
        await client.prompt(session["id"], "Third.", model={"providerID": "fake", "modelID": "other"})
        bodies = [request.body for request in model.requests]
        check_prefix(bodies)
        assert [news(body) for body in bodies] == [0, 0, 1]
        told = await until(events, "session.next.context.updated", sessionID=session["id"])
        assert TABS in told.properties["text"]
        assert "Other (fake/other)" in told.properties["text"]
        assert told.properties["text"] in json.loads(said(bodies[2])[-1])[1]
        history = await client.messages(session["id"])
        assert {message["info"]["role"] for message in history} == {"user", "assistant"}


async def test_news_are_kept_over_a_retry_a_failure_and_a_crash(home: Path, project: Path) -> None:
    soon = {"retry-after-ms": "10"}
    script = [
        Turn(text="One."),
        Turn(fault=HttpError(500, headers=soon)),
        Turn(fault=HttpError(400)),
        Turn(text="Three."),
        Turn(text="Four."),
    ]
    async with OpenAIServer(script) as model:
        server = Server(home, project, with_models(model.base_url))
        await asyncio.to_thread(server.start)
        async with server.client() as client:
            session = await client.create_session(title="named")
            await client.prompt(session["id"], "First.")
            (project / "AGENTS.md").write_text(TABS)
            await client.prompt(session["id"], "Second.")
            await client.prompt(session["id"], "Third.")
        server.kill()
        async with running(server) as client:
            await client.prompt(session["id"], "Fourth.")
        bodies = [request.body for request in model.requests]
    assert [news(body) for body in bodies] == [0, 1, 1, 1, 1]
    assert bodies[2]["messages"] == bodies[1]["messages"]
    check_prefix([bodies[0], bodies[1], bodies[3], bodies[4]])


async def test_an_undo_takes_back_what_was_told(home: Path, project: Path) -> None:
    script = [Turn(text="One."), Turn(text="Two."), Turn(text="Three.")]
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, with_models(model.base_url))) as client,
    ):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "First.")
        (project / "AGENTS.md").write_text(TABS)
        await client.prompt(session["id"], "Second.")
        history = await client.messages(session["id"])
        await client.revert(session["id"], history[2]["info"]["id"])
        await client.prompt(session["id"], "Third.")
        bodies = [request.body for request in model.requests]
        assert [news(body) for body in bodies] == [0, 1, 0]
        assert TABS in system_of(bodies[2])


async def blocked(events: AsyncIterator[Event], session_id: str) -> Event:
    """The status of a session that waits for its context."""
    while True:
        event = await until(events, "session.status", sessionID=session_id)
        if event.properties["status"]["type"] == "retry":
            return event


async def test_a_prompt_waits_for_an_address_and_runs_when_it_answers(home: Path, project: Path) -> None:
    async with TextServer(TABS, status=503) as page, OpenAIServer([Turn(text="One.")]) as model:
        config = with_models(model.base_url, instructions=[page.url])
        async with running(Server(home, project, config)) as client, client.events() as events:
            session = await client.create_session(title="named")
            await client.prompt_async(session["id"], "First.")
            event = await blocked(events, session["id"])
            assert page.url in event.properties["status"]["message"]
            assert await client.messages(session["id"]) == []
            assert not model.requests
            page.status = 200
            await until(events, "session.idle", sessionID=session["id"])
            assert TABS in system_of(model.requests[0].body)


async def test_stop_ends_the_waiting_and_takes_the_prompt_back(home: Path, project: Path) -> None:
    script = [Turn(text="1"), Turn(text="2"), Turn(text="3")]
    async with TextServer(TABS, status=503) as page, OpenAIServer(script) as model:
        config = with_models(model.base_url, instructions=[page.url])
        async with running(Server(home, project, config)) as client, client.events() as events:
            session = (await client.create_session(title="named"))["id"]
            await client.prompt_async(session, "First.")
            await blocked(events, session)
            await client.abort(session)
            await until(events, "session.idle", sessionID=session)
            other = (await client.create_session(title="other"))["id"]
            await client.prompt_async(other, "Meanwhile.")
            assert session not in await waiting_until(events, other)
            assert await client.messages(session) == []
            page.status = 200
            await until(events, "session.idle", sessionID=other)
            await client.prompt_async(session, "Second.")
            await until(events, "session.idle", sessionID=session)
            conversations = [json.dumps(request.body["messages"][1:]) for request in model.requests]
            assert ["First." in each for each in conversations] == [False, False]
            assert ["Second." in each for each in conversations] == [False, True]


async def waiting_until(events: AsyncIterator[Event], session_id: str) -> set[str]:
    """The sessions that begin to wait, up to this one."""
    found: set[str] = set()
    while session_id not in found:
        event = await until(events, "session.status")
        if event.properties["status"]["type"] == "retry":
            found.add(event.session_id)
    return found
