"""How much is asked in a session, as a person chooses it: also while a question waits; a denial stays one."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from agents.toolkit.sandbox import probe
from tests.loopback.script import ToolUse, Turn
from tests.runtime.asking import Stage, rows, stage

confined = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")


def bash(command: str) -> ToolUse:
    return ToolUse("bash", {"command": command, "description": "Run"})


def write(path: str) -> ToolUse:
    return ToolUse("write", {"filePath": path, "content": "x\n"})


async def choose(on: Stage, session: str, preset: str) -> None:
    answer = await on.client.http.patch(f"/session/{session}", json={"preset": preset})
    answer.raise_for_status()
    assert answer.json().get("preset", "ask") == preset


async def test_edits_go_and_commands_are_asked_about(home: Path, project: Path) -> None:
    script = [Turn(tools=[write("a.txt")]), Turn(tools=[bash("echo x > b.txt")]), Turn(text="Done.")]
    async with stage(home, project, script) as on:
        session = (await on.client.create_session())["id"]
        await choose(on, session, "edits")
        await on.client.prompt_async(session, "Go.")
        asked = await on.asked()
        assert asked["permission"] == "bash"
        assert (project / "a.txt").exists()
        await on.reply(asked, reply="once")
        await on.idle(session)
    found = rows(home, 'SELECT permission, verdict, "by", rule FROM opencode_sessions_decision ORDER BY id')
    assert found[:2] == [("preset", "allow", "person", ""), ("edit", "allow", "preset", "edits")]


async def test_what_configures_the_agent_is_asked_about_all_the_same(home: Path, project: Path) -> None:
    script = [Turn(tools=[write("opencode.json")]), Turn(text="Done.")]
    async with stage(home, project, script) as on:
        session = (await on.client.create_session())["id"]
        await choose(on, session, "edits")
        await on.client.prompt_async(session, "Go.")
        assert (await on.asked())["permission"] == "edit"
        assert not (project / "opencode.json").exists()
        await on.client.abort(session)


async def test_a_choice_answers_what_waits(home: Path, project: Path) -> None:
    script = [Turn(tools=[write("a.txt")]), Turn(text="Done.")]
    async with stage(home, project, script) as on:
        session = await on.session()
        await on.asked()
        await choose(on, session, "edits")
        await on.idle(session)
    assert (project / "a.txt").exists()


@pytest.mark.parametrize("preset", ["edits", "alone", "everything"])
async def test_what_is_denied_stays_denied(home: Path, project: Path, preset: str) -> None:
    script = [Turn(tools=[write("a.txt"), bash("echo x > b.txt")]), Turn(text="Done.")]
    async with stage(home, project, script, permission={"edit": "deny", "bash": "deny"}) as on:
        session = (await on.client.create_session())["id"]
        await choose(on, session, preset)
        await on.client.prompt(session, "Go.")
        assert await on.statuses(session) == ["error", "error"]
    assert not (project / "a.txt").exists()
    assert not (project / "b.txt").exists()


@confined
async def test_who_works_alone_is_confined_whatever_the_configuration_says(
    home: Path, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    script = [Turn(tools=[bash(f"echo x > a.txt; echo x > {outside}/b; echo $((1+1))")]), Turn(text="Done.")]
    async with stage(home, project, script) as on:
        session = (await on.client.create_session())["id"]
        await choose(on, session, "alone")
        await on.client.prompt(session, "Go.")
        assert await on.statuses(session) == ["completed"]
        await on.client.post(
            f"/session/{session}/shell", {"agent": "build", "command": f"echo x > {outside}/own"}
        )
    assert (project / "a.txt").exists()
    assert not (outside / "b").exists()
    assert (outside / "own").exists(), "a person's own line"


@confined
async def test_everything_is_free_of_sandbox_and_questions(home: Path, project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    script = [Turn(tools=[bash(f"echo x > {outside}/b")]), Turn(text="Done.")]
    async with stage(home, project, script, sandbox="offline") as on:
        session = (await on.client.create_session())["id"]
        await choose(on, session, "everything")
        await on.client.prompt(session, "Go.")
        fork = await on.client.post(f"/session/{session}/fork", {})
        assert "preset" not in fork, "it is off again with the session"
    assert (outside / "b").exists()


async def test_subagents_ask_as_much_as_who_sent_them(home: Path, project: Path) -> None:
    errand = {"description": "Write", "prompt": "Write a.txt.", "subagent_type": "general"}
    script = [
        Turn(tools=[ToolUse("task", errand)]),
        Turn(tools=[write("a.txt")]),
        Turn(text="Written."),
        Turn(text="Done."),
    ]
    async with stage(home, project, script) as on:
        session = await on.session()
        await on.asked()
        (child,) = await on.client.get(f"/session/{session}/children")
        assert "preset" not in child
        await choose(on, child["id"], "edits")
        await on.idle(session)
        assert (await on.client.get(f"/session/{session}"))["preset"] == "edits", "one choice for all of them"
    assert (project / "a.txt").exists()


async def test_one_that_there_is_not_is_refused(home: Path, project: Path) -> None:
    async with stage(home, project, []) as on:
        session = (await on.client.create_session())["id"]
        with pytest.raises(httpx.HTTPStatusError, match="400"):
            await choose(on, session, "whatever")
