"""Plan mode: nothing changes but the plan, which the user approves or sends back."""

from __future__ import annotations

import asyncio
import shutil
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from bench.client import Client, Event
from tests.loopback.anthropic import AnthropicServer
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import EXHAUSTED, Body, ToolUse, Turn
from tests.loopback.server import LoopbackServer
from tests.server import Server, model_config, parts_of, running, until

EDIT = {"filePath": "hello.py", "oldString": "'hello'", "newString": "'goodbye'"}
APPROVED = "has been approved"
REMINDER = "You are in plan mode"
ENDED = "Your mode has changed from plan to build"
PROTOCOLS = [(OpenAIServer, "@ai-sdk/openai-compatible"), (AnthropicServer, "@ai-sdk/anthropic")]


class Script:
    """Turns that are known once there is a session: its plan has its name."""

    def __init__(self) -> None:
        self.turns: deque[Turn] = deque()

    def __call__(self, body: Body) -> Turn:
        return self.turns.popleft() if self.turns else Turn(fault=EXHAUSTED)


def plan_file(session: dict[str, Any]) -> str:
    return f".opencode/plans/{session['time']['created']}-{session['slug']}.md"


def write_plan(path: str, text: str = "# Plan\n\nSay goodbye.\n") -> Turn:
    return Turn(tools=[ToolUse("write", {"filePath": path, "content": text})])


EXIT = Turn(tools=[ToolUse("plan_exit", {})])


def tools_of(request: Any) -> set[str]:
    return {(tool.get("function") or tool)["name"] for tool in request.body["tools"]}


async def tool_states(client: Client, session_id: str) -> list[dict[str, Any]]:
    return [part["state"] for part in parts_of(await client.messages(session_id), "tool")]


@pytest.mark.parametrize(("server_class", "npm"), PROTOCOLS)
async def test_from_plan_over_approval_to_build_in_one_drain(
    home: Path, project: Path, server_class: type[LoopbackServer], npm: str
) -> None:
    script = Script()
    async with (
        server_class(script) as model,
        running(Server(home, project, model_config(model.base_url, npm))) as client,
        client.events() as events,
    ):
        session = await client.create_session("planned")
        path = plan_file(session)
        script.turns += [
            Turn(tools=[ToolUse("edit", EDIT)]),
            write_plan(path),
            EXIT,
            Turn(tools=[ToolUse("edit", EDIT)]),
            Turn(text="Built."),
        ]
        await client.prompt_async(session["id"], "Say goodbye.", agent="plan")
        asked = (await until(events, "question.asked")).properties
        [question] = asked["questions"]
        assert question["question"] == f"Plan at {path} is complete. Start implementing?"
        assert "'hello'" in (project / "hello.py").read_text()
        assert (project / path).read_text() == "# Plan\n\nSay goodbye.\n"
        await client.post(f"/question/{asked['id']}/reply", {"answers": [["Yes"]]})
        await until(events, "session.idle")
        states = await tool_states(client, session["id"])
        assert [state["status"] for state in states] == ["error", "completed", "completed", "completed"]
        assert 'edit is denied for "*"' in states[0]["error"]
        assert "goodbye" in (project / "hello.py").read_text()
        history = await client.messages(session["id"])
        prompts = [entry for entry in history if entry["info"]["role"] == "user"]
        assert [entry["info"]["agent"] for entry in prompts] == ["plan", "build"]
        assert prompts[1]["parts"][0]["synthetic"] is True
        assert path in prompts[1]["parts"][0]["text"]
        assert (await client.session(session["id"]))["agent"] == "build"
        planning, building = model.requests[2], model.requests[3]
        assert REMINDER in str(planning.body)
        assert path in str(planning.body)
        assert {"plan_exit", "question", "edit", "write"} <= tools_of(planning)
        assert planning.body["tools"] == building.body["tools"], "the provider's cache holds"
        assert REMINDER not in str(building.body.get("system") or building.body["messages"][0])
        assert APPROVED in str(building.body)
        assert ENDED in str(building.body)
        assert ENDED not in str(planning.body)


@pytest.fixture
def script() -> Script:
    return Script()


async def planned(client: Client, script: Script, *turns: Turn) -> tuple[dict[str, Any], str]:
    session = await client.create_session("planned")
    path = plan_file(session)
    script.turns += [write_plan(path), *turns]
    return session, path


async def test_no_goes_on_planning_with_the_users_words(home: Path, project: Path, script: Script) -> None:
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, model_config(model.base_url))) as client,
        client.events() as events,
    ):
        session, _ = await planned(client, script, EXIT, EXIT, EXIT, Turn(text="I stop here."))
        await client.prompt_async(session["id"], "Plan it.", agent="plan")
        for answer in (["also the docs"], ["No"]):
            asked = (await until(events, "question.asked")).properties
            await client.post(f"/question/{asked['id']}/reply", {"answers": [answer]})
        asked = (await until(events, "question.asked")).properties
        told = [state["error"] for state in await tool_states(client, session["id"]) if "error" in state]
        assert "They said: also the docs" in told[0]
        assert "They said" not in told[1]
        assert all("go on planning" in text for text in told)
        await client.post(f"/question/{asked['id']}/reject")
        await until(events, "session.idle")
        assert len(script.turns) == 1, "after a dismissal the user speaks next"
        assert (await client.session(session["id"]))["agent"] == "plan"


async def test_plan_exit_says_what_is_missing(home: Path, project: Path, script: Script) -> None:
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, model_config(model.base_url))) as client,
    ):
        session = await client.create_session("planned")
        path = plan_file(session)
        done = Turn(text="I see.")
        script.turns += [EXIT, write_plan(path, "  \n"), EXIT, done, EXIT, done]
        await client.prompt(session["id"], "Plan it.", agent="plan")
        await client.prompt(session["id"], "Build it.", agent="build")
        missing, _, empty, outside = await tool_states(client, session["id"])
        for state in (missing, empty):
            assert f"no plan yet: {path} is missing or empty" in state["error"]
        assert "not in plan mode" in outside["error"]


async def test_outside_of_a_repository_the_plan_is_in_the_data_directory(
    home: Path, tmp_path: Path, script: Script
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "hello.py").write_text("'hello'\n")
    async with OpenAIServer(script) as model:
        server = Server(home, folder, model_config(model.base_url, permission={}))
        async with running(server) as client, client.events() as events:
            session = await client.create_session("planned")
            plan = server.data / "plans" / Path(plan_file(session)).name
            read = Turn(tools=[ToolUse("read", {"filePath": str(plan)})])
            edit = Turn(tools=[ToolUse("edit", EDIT)])
            script.turns += [edit, write_plan(str(plan)), EXIT, read, Turn(text="Read.")]
            await client.prompt_async(session["id"], "Plan it.", agent="plan")
            asked = (await until(events, "question.asked")).properties
            assert plan.read_text() == "# Plan\n\nSay goodbye.\n"
            assert str(plan) in asked["questions"][0]["question"]
            await client.post(f"/question/{asked['id']}/reply", {"answers": [["Yes"]]})
            await until(events, "session.idle")
            states = [state["status"] for state in await tool_states(client, session["id"])]
            assert states == ["error", "completed", "completed", "completed"]
            assert (folder / "hello.py").read_text() == "'hello'\n"


async def test_the_shell_is_no_way_around_plan_mode(home: Path, project: Path, script: Script) -> None:
    def run(command: str) -> ToolUse:
        return ToolUse("bash", {"command": command})

    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, model_config(model.base_url))) as client,
        client.events() as events,
    ):
        session = await client.create_session("planned")
        script.turns += [
            Turn(tools=[run("cat hello.py | grep -n hello && git log --oneline")]),
            Turn(tools=[run("echo x > hello.py")]),
            Turn(tools=[run('python3 -c \'open("hello.py", "w")\'')]),
            Turn(text="I see."),
        ]
        await client.prompt_async(session["id"], "Look.", agent="plan")
        asked = (await until(events, "permission.asked")).properties
        assert asked["patterns"][-1].startswith("may change files: python3 -c")
        assert asked["always"] == []
        await client.reply(asked["id"], "reject", "no")
        await until(events, "session.idle")
        read, written, refused = await tool_states(client, session["id"])
        assert "'hello'" in read["output"]
        assert "edit is denied" in written["error"]
        assert "said: no" in refused["error"]
        assert "'hello'" in (project / "hello.py").read_text()


async def test_the_plan_agents_own_rules_are_the_users_to_change(
    home: Path, project: Path, script: Script
) -> None:
    agent = {"plan": {"permission": {"edit": {"hello.py": "allow"}}}}
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, model_config(model.base_url, agent=agent))) as client,
    ):
        session = await client.create_session("planned")
        script.turns += [Turn(tools=[ToolUse("edit", EDIT)]), Turn(text="Done.")]
        await client.prompt(session["id"], "Change it.", agent="plan")
        assert "goodbye" in (project / "hello.py").read_text()


async def test_plan_enter_proposes_and_the_session_goes_on_planning(
    home: Path, project: Path, script: Script
) -> None:
    enter = Turn(tools=[ToolUse("plan_enter", {})])
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, model_config(model.base_url))) as client,
        client.events() as events,
    ):
        session = await client.create_session("large")
        script.turns += [enter, enter, enter, Turn(text="I plan.")]
        await client.prompt_async(session["id"], "Rewrite it all.")
        for answer in (["just do it"], ["Plan first"]):
            asked = (await until(events, "question.asked")).properties
            await client.post(f"/question/{asked['id']}/reply", {"answers": [answer]})
        await until(events, "session.idle")
        refused, agreed, already = await tool_states(client, session["id"])
        assert "They said: just do it" in refused["error"]
        assert agreed["status"] == "completed"
        assert "in plan mode already" in already["error"]
        assert (await client.session(session["id"]))["agent"] == "plan"
        assert "plan_enter" in tools_of(model.requests[1])
        assert model.requests[1].body["tools"] == model.requests[2].body["tools"]
        assert REMINDER in str(model.requests[2].body)


@pytest.mark.parametrize(
    ("config", "environ"),
    [
        ({"experimental": {"plan_mode": "short"}}, {}),
        ({}, {"OPENCODE_EXPERIMENTAL_PLAN_MODE": "0"}),
    ],
)
async def test_the_short_form_has_no_plan_file(
    home: Path, project: Path, script: Script, config: dict[str, Any], environ: dict[str, str]
) -> None:
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url, **config), environ)
        async with running(server) as client:
            session = await client.create_session("planned")
            script.turns += [Turn(text="A plan."), Turn(text="Built.")]
            await client.prompt(session["id"], "Plan it.", agent="plan")
            await client.prompt(session["id"], "Build it.", agent="build")
            planning, building = model.requests
            assert REMINDER in str(planning.body)
            assert ".opencode/plans" not in str(building.body)
            assert ENDED in str(building.body)
            assert not {"plan_exit", "plan_enter"} & (tools_of(planning) | tools_of(building))


async def test_killed_while_the_plan_waits_for_approval(home: Path, project: Path, script: Script) -> None:
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url))
        await asyncio.to_thread(server.start)
        async with server.client() as client, client.events() as events:
            session, path = await planned(client, script, EXIT, EXIT, Turn(text="Built."))
            await client.prompt_async(session["id"], "Plan it.", agent="plan")
            await until(events, "question.asked")
        server.kill()
        async with running(server) as client, client.events() as events:
            await client.prompt_async(session["id"], "Go on.")
            asked = (await until(events, "question.asked")).properties
            assert len(await client.get("/question")) == 1
            assert path in asked["questions"][0]["question"]
            await client.post(f"/question/{asked['id']}/reply", {"answers": [["Yes"]]})
            await until(events, "session.idle")
            states = await tool_states(client, session["id"])
            assert states[1]["metadata"]["interrupted"] is True
            assert states[2]["status"] == "completed"


async def test_a_plan_that_is_deleted_before_the_answer_is_the_builders_to_miss(
    home: Path, project: Path, script: Script
) -> None:
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, model_config(model.base_url))) as client,
        client.events() as events,
    ):
        session, path = await planned(client, script, EXIT)
        script.turns += [Turn(tools=[ToolUse("read", {"filePath": path})]), Turn(text="It is gone.")]
        await client.prompt_async(session["id"], "Plan it.", agent="plan")
        asked = (await until(events, "question.asked")).properties
        shutil.rmtree(project / ".opencode")
        await client.post(f"/question/{asked['id']}/reply", {"answers": [["Yes"]]})
        await until(events, "session.idle")
        assert "does not exist" in (await tool_states(client, session["id"]))[-1]["error"]


@pytest.mark.parametrize("killed", [False, True])
async def test_a_stop_after_the_approval_stops_the_building_too(
    home: Path, project: Path, killed: bool
) -> None:
    """The plan was approved, and another call of that step still ran."""
    script = Script()
    async with OpenAIServer(script) as model:
        server = Server(home, project, model_config(model.base_url, resume="off"))
        async with running(server) as client, client.events() as events:
            session = await client.create_session("stopped")
            then = {"question": "And then?", "header": "Then", "options": [{"label": "Nothing"}]}
            long = ToolUse("question", {"questions": [then]})
            script.turns += [
                write_plan(plan_file(session)),
                Turn(tools=[ToolUse("plan_exit", {}), long]),
                Turn(tools=[ToolUse("edit", EDIT)]),
            ]
            await client.prompt_async(session["id"], "Say goodbye.", agent="plan")
            asked = [(await until(events, "question.asked")).properties for _ in range(2)]
            [plan] = [one for one in asked if one["questions"][0]["header"] == "Plan"]
            await client.post(f"/question/{plan['id']}/reply", {"answers": [["Yes"]]})
            while not _approved(await until(events, "message.part.updated")):
                pass
            if killed:
                server.kill()
            else:
                await client.abort(session["id"])
                await until(events, "session.idle")
        async with running(server) as client:
            script.turns.clear()
            script.turns += [Turn(text="Hello."), Turn(text="Who asked?")]
            other = await client.create_session("another")
            assert parts_of([await client.prompt(other["id"], "Hello?")], "text")[0]["text"] == "Hello."
            assert await client.status() == {}
            assert "'hello'" in (project / "hello.py").read_text()
            states = await tool_states(client, session["id"])
            assert [state["status"] for state in states] == ["completed", "completed", "error"]
        assert len(model.requests) == 3


def _approved(event: Event) -> bool:
    part = event.properties["part"]
    return bool(part.get("tool") == "plan_exit" and part["state"]["status"] == "completed")
