"""Where nothing is configured an agent works alone in the sandbox; without one what may change is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.toolkit.sandbox import probe
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import Script, ToolUse, Turn
from tests.runtime.asking import Stage
from tests.server import Server, model_config, parts_of, running

confined = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")


def bash(command: str, **more: str) -> ToolUse:
    return ToolUse("bash", {"command": command, "description": "Run", **more})


def write(path: str) -> ToolUse:
    return ToolUse("write", {"filePath": path, "content": "x\n"})


@asynccontextmanager
async def unconfigured(home: Path, project: Path, script: Script, **config: Any) -> AsyncIterator[Stage]:
    async with OpenAIServer(script) as model:
        given = model_config(model.base_url)
        del given["permission"]
        async with running(Server(home, project, given | config)) as client, client.events() as events:
            yield Stage(model, home, client, events)


async def sandboxes(on: Stage, session: str) -> list[str | None]:
    parts = parts_of(await on.client.messages(session), "tool")
    return [part["state"].get("metadata", {}).get("sandbox") for part in parts]


@confined
async def test_it_works_alone_in_the_sandbox_and_asks_to_leave_it(
    home: Path, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    script = [
        Turn(tools=[write("a.txt"), bash(f'python3 -c \'open("b.txt", "w")\'; touch {outside}/c')]),
        Turn(tools=[bash(f"touch {outside}/d", outside="It is needed there.")]),
        Turn(text="Done."),
    ]
    async with unconfigured(home, project, script) as on:
        session = await on.session()
        assert "preset" not in await on.client.get(f"/session/{session}"), "nobody chose one"
        asked = await on.asked()
        assert asked["permission"] == "sandbox"
        assert await sandboxes(on, session) == [None, "project", None]
        await on.reply(asked, reply="once")
        await on.idle(session)
        assert await on.statuses(session) == ["completed"] * 3
    assert (project / "a.txt").exists()
    assert (project / "b.txt").exists()
    assert [path.name for path in outside.iterdir()] == ["d"]


@confined
async def test_who_wants_to_be_asked_is_asked_and_the_sandbox_stays(home: Path, project: Path) -> None:
    script = [Turn(tools=[write("a.txt"), bash("ls"), bash("python3 -V")]), Turn(text="Done.")]
    async with unconfigured(home, project, script) as on:
        session = (await on.client.create_session())["id"]
        changed = await on.client.http.patch(f"/session/{session}", json={"preset": "ask"})
        assert changed.json()["preset"] == "ask"
        await on.client.prompt_async(session, "Go.")
        asked = await on.asked()
        assert (asked["permission"], asked["patterns"], asked["always"]) == (
            "bash",
            ["python3 -V"],
            ["python3 -V"],
        )
        await on.reply(asked, reply="once")
        await on.idle(session)
        assert await sandboxes(on, session) == [None, "project", "project"]


async def test_in_a_home_there_is_no_sandbox_and_what_may_change_is_asked_about(
    home: Path, project: Path
) -> None:
    script = [Turn(tools=[call]) for call in (write("a.txt"), bash("ls; git status"), bash("make"))]
    script.append(Turn(text="Done."))
    async with unconfigured(project, project, script) as on:
        session = await on.session()
        asked = await on.asked()
        assert (asked["permission"], asked["patterns"]) == ("bash", ["make"])
        assert (project / "a.txt").exists()
        await on.reply(asked, reply="reject")
        await on.idle(session)
        assert await on.statuses(session) == ["completed", "completed", "error"]
        assert await sandboxes(on, session) == [None, None, None]


@pytest.mark.parametrize(
    "config",
    [
        {"permission": {"webfetch": "deny"}},
        {"agent": {"build": {"permission": {"webfetch": "deny"}}}},
    ],
    ids=["of all", "of the agent"],
)
async def test_what_is_configured_counts_as_it_stands(
    home: Path, project: Path, config: dict[str, Any]
) -> None:
    script = [Turn(tools=[bash("echo x > a.txt")]), Turn(text="Done.")]
    async with unconfigured(home, project, script, **config) as on:
        session = await on.session()
        await on.idle(session)
        assert await sandboxes(on, session) == [None]
    assert (project / "a.txt").exists()


async def test_without_a_sandbox_by_choice_what_may_change_is_asked_about(home: Path, project: Path) -> None:
    script = [Turn(tools=[bash("echo x > a.txt")]), Turn(text="Done.")]
    async with unconfigured(home, project, script, sandbox="off") as on:
        session = await on.session()
        asked = await on.asked()
        assert (asked["permission"], asked["patterns"]) == ("bash", ["echo x"])
        await on.client.abort(session)


async def test_a_client_that_wants_to_be_asked_is_asked(home: Path, project: Path) -> None:
    script = [Turn(tools=[write("a.txt")]), Turn(text="Done.")]
    async with unconfigured(home, project, script) as on:
        rules = [{"permission": "edit", "pattern": "*", "action": "ask"}]
        session = (await on.client.post("/session", {"permission": rules}))["id"]
        await on.client.prompt_async(session, "Go.")
        assert (await on.asked())["permission"] == "edit"
        await on.client.abort(session)


@pytest.mark.parametrize("preset", ["alone", "everything"])
async def test_who_plans_changes_nothing_unasked_whatever_was_chosen(
    home: Path, project: Path, preset: str
) -> None:
    script = [Turn(tools=[bash('python3 -c \'open("a.txt", "w")\'')]), Turn(text="Done.")]
    async with unconfigured(home, project, script) as on:
        session = (await on.client.create_session())["id"]
        await on.client.http.patch(f"/session/{session}", json={"preset": preset})
        await on.client.prompt_async(session, "Go.", agent="plan")
        assert (await on.asked(session))["permission"] == "bash"
        await on.client.abort(session)
    assert not (project / "a.txt").exists()
