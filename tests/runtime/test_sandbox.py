"""Confinement in whole turns: whose programs, what of them is undone, and what the model is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.toolkit.sandbox import probe
from tests.agents.toolkit.sandbox.outside import Outside
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.server import Server, model_config, parts_of, running, serving, until

pytestmark = pytest.mark.skipif(not probe.found().holds, reason=f"no sandbox: {probe.found().words}")


def bash(command: str) -> ToolUse:
    return ToolUse("bash", {"command": command, "description": "Run"})


async def test_an_agents_commands_are_confined_and_undone_and_a_persons_are_free(
    home: Path, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    script = [
        Turn(tools=[bash(f"echo x > made.txt; echo x > {outside}/agent; echo x > .envrc")]),
        Turn(text="Done."),
    ]
    config = {"sandbox": "offline", "permission": {"*": "allow", "external_directory": "allow"}}
    async with serving(home, project, script, **config) as (client, model):
        session = (await client.create_session(title="named"))["id"]
        await client.prompt(session, "Go.")
        (description,) = (
            tool["function"]["description"]
            for tool in model.requests[0].body["tools"]
            if tool["function"]["name"] == "bash"
        )
        assert "Commands run in a sandbox" in description
        assert (project / "made.txt").exists()
        (part,) = parts_of(await client.messages(session), "tool")
        assert part["state"]["metadata"]["sandbox"] == "offline"
        assert not (outside / "agent").exists()
        assert not (project / ".envrc").exists()
        messages = await client.messages(session)
        await client.revert(session, messages[0]["info"]["id"])
        assert not (project / "made.txt").exists()
        body = {"agent": "build", "command": f"echo x > {outside}/person"}
        await client.post(f"/session/{session}/shell", body)
        assert (outside / "person").exists()


async def test_an_agent_may_be_free_where_others_are_not(home: Path, project: Path) -> None:
    script = [
        *(Turn(tools=[bash("python3 -c 'import os; print(os.getpid() < 9)'")]), Turn(text="One.")),
        *(Turn(tools=[bash("python3 -c 'import os; print(os.getpid() < 9)'")]), Turn(text="Two.")),
    ]
    config = {
        "sandbox": "offline",
        "agent": {"free": {"mode": "primary", "sandbox": "off"}},
        "permission": {"*": "allow"},
    }
    async with serving(home, project, script, **config) as (client, _):
        session = (await client.create_session(title="named"))["id"]
        for agent in ("build", "free"):
            await client.post(
                f"/session/{session}/message", {"agent": agent, "parts": [{"type": "text", "text": "Go."}]}
            )
        outputs = [
            part["state"]["output"].strip() for part in parts_of(await client.messages(session), "tool")
        ]
    assert outputs == ["True", "False"], "the first has a namespace of processes of its own"


async def test_a_person_is_asked_about_each_host_and_a_refusal_is_told(home: Path, project: Path) -> None:
    def get(host: str) -> ToolUse:
        return bash(f"python3 -c \"import urllib.request as u; print(u.urlopen('http://{host}/x').read())\"")

    script = [Turn(tools=[get("api.maker.example"), get("open.example")]), Turn(text="Done.")]
    script += [Turn(tools=[get("evil.example")]), Turn(text="Done.")]
    outside = Outside()
    async with OpenAIServer(script) as model, outside.listening() as address:
        domains = {"*.example": "ask", "open.example": "allow"}
        config = model_config(model.base_url, sandbox="project", sandbox_domains=domains)
        server = Server(home, project, config, {"http_proxy": address, "no_proxy": "127.0.0.1"})
        async with running(server) as client, client.events() as events:
            session = (await client.create_session(title="named"))["id"]
            await client.prompt_async(session, "Go.")
            asked = (await until(events, "permission.asked")).properties
            assert (asked["permission"], asked["patterns"]) == ("network", ["api.maker.example"])
            assert "api.maker.example" in asked["metadata"]["command"]
            await client.reply(asked["id"], "always")
            await until(events, "session.idle")
            first, second = parts_of(await client.messages(session), "tool")
            assert "api.maker.example:80 says: GET /x" in first["state"]["output"]
            assert "open.example:80 says: GET /x" in second["state"]["output"]
            await client.prompt_async(session, "Go on.")
            asked = (await until(events, "permission.asked")).properties
            await client.reply(asked["id"], "reject")
            await until(events, "session.idle")
            *_, last = parts_of(await client.messages(session), "tool")
            told = last["state"].get("output") or last["state"].get("error")
            assert "403" in told
            assert "The sandbox did not let it reach: evil.example." in told
    assert set(outside.reached) == {"api.maker.example:80", "open.example:80"}


async def test_a_command_leaves_the_sandbox_by_a_persons_yes_alone(
    home: Path, project: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    line = {"command": f"echo x > {outside}/made", "description": "Make it"}
    leaving = Turn(tools=[ToolUse("bash", {**line, "outside": "It writes elsewhere."})])
    script = [Turn(tools=[ToolUse("bash", line)]), leaving, Turn(text="Done."), leaving]
    allowed = {"external_directory": "allow"}
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, sandbox="offline", permission=allowed)
        server = Server(home, project, config)
        async with running(server) as client, client.events() as events:
            session = (await client.create_session(title="named"))["id"]
            await client.prompt_async(session, "Go.")
            asked = (await until(events, "permission.asked")).properties
            assert (asked["permission"], asked["patterns"]) == ("sandbox", [line["command"]])
            assert asked["metadata"]["reason"] == "It writes elsewhere."
            assert not (outside / "made").exists()
            await client.reply(asked["id"], "once")
            await until(events, "session.idle")
            assert (outside / "made").exists()
            (outside / "made").unlink()
            await client.prompt_async(session, "Again.")
            asked = (await until(events, "permission.asked")).properties
            await client.reply(asked["id"], "reject")
            await until(events, "session.idle")
            assert not (outside / "made").exists()
            shown = [tool["function"] for tool in model.requests[0].body["tools"]]
            (arguments,) = (tool["parameters"]["properties"] for tool in shown if tool["name"] == "bash")
            assert "outside" in arguments
