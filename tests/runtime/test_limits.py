"""Limits that an agent reaches: asked about where a person is there, refused in words where nobody is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.toolkit.sandbox import probe
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import TokenUsage, ToolUse, Turn, Wait
from tests.runtime.asking import Stage, stage
from tests.runtime.cast import LOOKING, Cast, task, task_parts
from tests.server import Server, model_config, parts_of, running

confined = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")
EVERYTHING = {"*": "allow"}
"""It says nothing about limits."""


def read(line: int) -> ToolUse:
    return ToolUse("read", {"filePath": "hello.py", "limit": line})


def reading(count: int) -> list[Turn]:
    return [Turn(tools=[read(line)]) for line in range(1, count + 1)]


def told(on: Stage, request: int = -1) -> str:
    """What the last message of a request says."""
    return str(on.model.requests[request].body["messages"][-1])


async def test_going_on_lets_as_many_calls_again(home: Path, project: Path) -> None:
    script = [*reading(5), Turn(tools=[ToolUse("list", {})]), Turn(text="Done.")]
    async with stage(home, project, script, permission=EVERYTHING, limits={"calls": {"read": 2}}) as on:
        session = await on.session()
        asked = await on.asked()
        assert (asked["permission"], asked["patterns"]) == ("limit", ["calls of read"])
        assert asked["metadata"]["limit"] == "2 calls of read in one turn"
        assert asked["metadata"]["agents"] == ["build"]
        assert await on.statuses(session) == ["completed"] * 2 + ["running"]
        await on.reply(asked, reply="once")
        await on.reply(await on.asked(), reply="reject", message="you have seen enough")
        await on.idle(session)
        assert await on.statuses(session) == ["completed"] * 4 + ["error", "completed"]
        assert "2 calls of read in one turn" in told(on, -2)
        assert "you have seen enough" in told(on, -2)


async def test_a_yes_for_the_turn_ends_with_it(home: Path, project: Path) -> None:
    script = [*reading(4), Turn(text="Done."), *reading(2), Turn(text="Done.")]
    async with stage(home, project, script, permission=EVERYTHING, limits={"calls": {"*": 1}}) as on:
        session = await on.session()
        await on.reply(await on.asked(), reply="always", scope="turn")
        await on.idle(session)
        assert await on.statuses(session) == ["completed"] * 4
        await on.client.prompt_async(session, "And again.")
        assert (await on.asked())["patterns"] == ["calls of *"]
        await on.client.abort(session)


@pytest.mark.parametrize("preset", ["edits", "everything"])
async def test_no_mode_goes_beyond_one(home: Path, project: Path, preset: str) -> None:
    script = [*reading(2), Turn(text="Done.")]
    async with stage(home, project, script, permission=EVERYTHING, limits={"calls": {"*": 1}}) as on:
        session = (await on.client.create_session())["id"]
        (await on.client.http.patch(f"/session/{session}", json={"preset": preset})).raise_for_status()
        await on.client.prompt_async(session, "Go.")
        await on.reply(await on.asked(), reply="once")
        await on.idle(session)


async def test_a_refusal_over_all_tools_leaves_words(home: Path, project: Path) -> None:
    script = [Turn(tools=[read(1)]), Turn(tools=[read(2), ToolUse("list", {})]), Turn(text="So far.")]
    async with stage(home, project, script, permission=EVERYTHING, limits={"calls": {"*": 1}}) as on:
        session = await on.session()
        await on.reply(await on.asked(), reply="reject", message="nobody is there")
        await on.idle(session)
        assert await on.statuses(session) == ["completed", "error", "error"]
        assert "no tools are available any more" in told(on)
        assert "tools" not in on.model.requests[-1].body


async def test_a_rule_that_denies_it_asks_nobody(home: Path, project: Path) -> None:
    script = [*reading(3), Turn(text="Done.")]
    permission = {**EVERYTHING, "limit": "deny"}
    async with stage(home, project, script, permission=permission, limits={"calls": {"read": 1}}) as on:
        session = (await on.client.create_session())["id"]
        await on.client.prompt(session, "Go.")
        assert await on.statuses(session) == ["completed", "error", "error"]
        assert "1 call of read in one turn" in told(on)


async def test_subagents_at_once(home: Path, project: Path) -> None:
    words = ("First", "Second", "Third", "Fourth")
    played = Cast(
        Parent=[Turn(tools=[task(word) for word in words]), Turn(text="All seen.")],
        **{word: [Turn(text=["seen", Wait("all")])] for word in words},
    )
    config: dict[str, Any] = {"agent": {"explore": LOOKING}, "limits": {"subagents": 2}}
    async with stage(home, project, played, permission=EVERYTHING, **config) as on:
        session = await on.session("Parent")
        first, second = await on.asked(), await on.asked()
        assert first["patterns"] == second["patterns"] == ["subagents"]
        assert first["metadata"]["limit"] == "2 subagents at work at once"
        assert len(await on.client.get(f"/session/{session}/children")) == 2
        await on.reply(first, reply="once")
        await on.reply(second, reply="reject", message="enough of you")
        await on.model.wait_for_request(4)
        on.model.gate("all").open()
        await on.idle(session)
        found = sorted(part["state"]["status"] for part in await task_parts(on.client, session))
        assert found == ["completed"] * 3 + ["error"]
        assert len(await on.client.get(f"/session/{session}/children")) == 3


async def test_who_is_too_deep_is_named_with_those_above(home: Path, project: Path) -> None:
    played = Cast(
        Parent=[Turn(tools=[task("First", "worker")]), Turn(text="Done.")],
        First=[Turn(tools=[task("Second")]), Turn(text="one")],
        Second=[Turn(text="two")],
    )
    sending = {**LOOKING, "permission": {"task": "allow"}}
    config: dict[str, Any] = {"agent": {"explore": LOOKING, "worker": sending}}
    async with stage(home, project, played, permission=EVERYTHING, **config) as on:
        session = await on.session("Parent")
        asked = await on.asked()
        assert asked["patterns"] == ["depth of subagents"]
        assert asked["metadata"]["agents"] == ["build", "worker"]
        await on.reply(asked, reply="once")
        await on.idle(session)
        (part,) = await task_parts(on.client, session)
        (inner,) = await task_parts(on.client, part["state"]["metadata"]["sessionId"])
        assert "two" in inner["state"]["output"]


@pytest.mark.parametrize(
    ("limits", "pattern"),
    [({"session_cost": 0.5}, "session cost"), ({"session_tokens": 5}, "session tokens")],
)
async def test_what_a_conversation_spends(
    home: Path, project: Path, limits: dict[str, float], pattern: str
) -> None:
    usage = TokenUsage(input=10, output=10)
    played = Cast(
        Parent=[Turn(tools=[task("First")]), Turn(tools=[read(1)], usage=usage), Turn(text="Done.")],
        First=[Turn(text="one", usage=usage)],
    )
    async with OpenAIServer(played) as model:
        config = model_config(model.base_url, limits=limits, agent={"explore": LOOKING})
        config["provider"]["fake"]["models"]["fake"]["cost"] = {"input": 0, "output": 100_000}
        async with running(Server(home, project, config)) as client, client.events() as events:
            on = Stage(model, home, client, events)
            session = await on.session("Parent")
            asked = await on.asked()
            assert asked["patterns"] == [pattern]
            await on.reply(asked, reply="once")
            await on.idle(session)
            assert await on.statuses(session) == ["completed"] * 2


async def test_an_answer_has_no_more_tokens(home: Path, project: Path) -> None:
    async with stage(home, project, [Turn(text="Hi.")], limits={"answer_tokens": 700}) as on:
        session = (await on.client.create_session(title="named"))["id"]
        await on.client.prompt(session, "Hello.")
        assert on.model.requests[0].body["max_tokens"] == 700


@confined
async def test_a_confined_command_ends_at_the_memory_limit(home: Path, project: Path) -> None:
    eater = "import time; held = bytearray(b'x') * 200 * 2**20; time.sleep(60)"
    call = ToolUse("bash", {"command": f'setsid python3 -c "{eater}" & wait; sleep 60', "description": "Eat"})
    script = [Turn(tools=[call]), Turn(text="I see.")]
    config: dict[str, Any] = {"sandbox": "offline", "limits": {"command_memory": 100}}
    async with stage(home, project, script, permission=EVERYTHING, **config) as on:
        session = (await on.client.create_session())["id"]
        await on.client.prompt(session, "Go.")
        (part,) = parts_of(await on.client.messages(session), "tool")
        assert part["state"]["metadata"]["sandbox"] == "offline"
        assert part["state"]["metadata"]["limit"] == "memory"
        assert "held more than 100 MB of memory" in told(on)
