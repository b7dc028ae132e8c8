"""Tools of MCP servers in whole turns: called, shown, asked about, stopped, gone."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from bench.client import Event
from tests.agents.servers.mcp.watching import raw
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.protocol.served import Script
from tests.runtime.servers import ready
from tests.server import Server, model_config, parts_of, running, until


async def test_results_of_every_kind_go_to_the_model(
    home: Path, project: Path, everything: dict[str, Any]
) -> None:
    uses = [
        ToolUse("every_thing_echo", {"message": "hello there"}),
        ToolUse("every_thing_get-tiny-image", {}),
        ToolUse("every_thing_get-structured-content", {"location": "New York"}),
        ToolUse("every_thing_get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
        ToolUse("every_thing_get-resource-links", {"count": 1}),
        ToolUse("every_thing_get-sum", {"a": "no number"}),
        ToolUse("every_thing_get-roots-list", {}),
    ]
    async with OpenAIServer([Turn(tools=uses), Turn(text="Done.")], title=None) as model:
        config = model_config(model.base_url, mcp={"every.thing": everything})
        async with running(Server(home, project, config)) as client:
            await ready(client, "every_thing_echo")
            session = await client.create_session("named")
            await client.prompt(session["id"], "Use them.")
            request = model.requests[0].body
            shown = {tool["function"]["name"]: tool["function"] for tool in request["tools"]}
            assert shown["every_thing_echo"]["parameters"]["required"] == ["message"]
            assert "$schema" not in shown["every_thing_echo"]["parameters"]
            told = str(request["messages"][0])
            assert 'The MCP server "every_thing"' in told
            assert "# Everything Server" in told
            states = [part["state"] for part in parts_of(await client.messages(session["id"]), "tool")]
            echo, image, structured, resource, links, wrong, roots = states
            assert (echo["title"], echo["output"]) == ("every.thing: Echo Tool", "Echo: hello there")
            assert echo["metadata"] == {"server": "every.thing", "tool": "echo", "truncated": False}
            assert image["attachments"][0]["mime"] == "image/png"
            assert json.loads(structured["output"]) == structured["metadata"]["structured"]
            assert "[Resource demo://resource/dynamic/text/1]\nResource 1: This is" in resource["output"]
            assert "[Resource Blob Resource 1: demo://resource/dynamic/blob/1 (" in links["output"]
            assert "expected number, received string" in wrong["error"]
            assert project.as_uri() in roots["output"]
            assert "data:image/png;base64," in json.dumps(model.requests[1].body["messages"])


async def test_a_server_that_dies_hangs_or_has_odd_names(home: Path, project: Path) -> None:
    servers = {"a.b": raw(), "a_b": raw(), "gone": {"type": "local", "command": ["no-such-program"]}}
    script = Script()
    async with OpenAIServer(script, title=None) as model:
        config = model_config(model.base_url, mcp=servers)
        async with running(server := Server(home, project, config)) as client, client.events() as events:
            await ready(client, "a_b____x")
            session = (await client.create_session("named"))["id"]
            for name in ("a_b____x", "a_b_noise"):
                script.turns.append(Turn(tools=[ToolUse(name, {})]))
                await client.prompt(session, "Go on.")
            names = [tool["function"]["name"] for tool in model.requests[0].body["tools"]]
            marked = [name for name in names if name.startswith("a_b_echo_")]
            assert "a_b_echo" in names
            assert len(marked) == 1
            assert f"the tool 'echo' is known as {marked[0]}" in server.log()
            assert not [name for name in names if name.startswith("gone")]
            script.turns.append(Turn(tools=[ToolUse("a_b_hang", {})]))
            await client.prompt_async(session, "Hang.")
            while "progress" not in await until_running(events, "a_b_hang"):
                pass
            await client.abort(session)
            await until(events, "session.idle")
            for name in ("a_b_cancelled", "a_b_die"):
                script.turns.append(Turn(tools=[ToolUse(name, {})]))
                await client.prompt(session, "Go on.")
            states = [part["state"] for part in parts_of(await client.messages(session), "tool")]
            assert [state.get("output") for state in states] == ["x", "after the noise", None, "1", None]
            assert (
                "The MCP server a.b went away in the middle of the call. exited with code 7"
                in states[4]["error"]
            )
            assert "these are my last words" in states[4]["error"]


async def until_running(events: AsyncIterator[Event], tool: str, **metadata: Any) -> Mapping[str, Any]:
    """The metadata of a running call once it has these keys."""
    while True:
        part = (await until(events, "message.part.updated")).properties["part"]
        state = part.get("state") or {}
        shown: Mapping[str, Any] = state.get("metadata") or {}
        if part.get("tool") == tool and state["status"] == "running" and metadata.items() <= shown.items():
            return shown


async def test_rules_by_full_name_and_wildcard_and_tools_that_change_in_a_call(
    home: Path, project: Path
) -> None:
    agents = {"plain": {"mode": "primary", "permission": {"raw_*": "deny"}}}
    rules = {"*": "allow", "raw_*": "ask", "raw_die": "deny", "raw_grow*": "allow"}
    script = Script()
    async with OpenAIServer(script, title=None) as model:
        config = model_config(model.base_url, mcp={"raw": raw()}, permission=rules, agent=agents)
        async with running(Server(home, project, config)) as client, client.events() as events:
            await ready(client, "raw_echo")
            session = (await client.create_session("named"))["id"]

            def names() -> set[str]:
                """The tools of the last request."""
                return {tool["function"]["name"] for tool in model.requests[-1].body["tools"]}

            script.turns.append(Turn(tools=[ToolUse("raw_echo", {"a": [1]})]))
            await client.prompt_async(session, "Echo.")
            request = (await until(events, "permission.asked")).properties
            assert (request["permission"], request["patterns"]) == ("raw_echo", ["*"])
            about = {key: request["metadata"][key] for key in ("server", "tool", "input")}
            assert about == {"server": "raw", "tool": "echo", "input": {"a": [1]}}
            await client.reply(request["id"], "always")
            await until(events, "session.idle")
            before = names()
            assert "raw_hang" in before
            assert "raw_die" not in before
            script.turns.extend(Turn(tools=[ToolUse(name, {})]) for name in ("raw_echo", "raw_grow"))
            await client.prompt(session, "Again, and grow.")
            states = [part["state"] for part in parts_of(await client.messages(session), "tool")]
            assert [state["output"] for state in states] == ["echo", "echo", "grown"]
            assert names() - before == {"raw_grown"}
            await client.prompt(session, "Go on.", agent="plain")
            assert not [name for name in names() if name.startswith("raw_")]
            assert "bash" in names()


@pytest.mark.proc
async def test_a_server_tells_its_progress_and_asks_the_person(
    home: Path, project: Path, everything: dict[str, Any]
) -> None:
    long = ToolUse("e_trigger-long-running-operation", {"duration": 600, "steps": 6000})
    script = Script()
    async with OpenAIServer(script, title=None) as model:
        config = model_config(model.base_url, mcp={"e": everything})
        async with running(server := Server(home, project, config)) as client, client.events() as events:
            await ready(client, "e_echo")
            session = (await client.create_session("named"))["id"]

            script.turns.append(Turn(tools=[long]))
            await client.prompt_async(session, "Work long.")
            while "progress" not in (shown := await until_running(events, long.name)):
                pass
            assert shown["progress"]["total"] == 6000
            await client.abort(session)
            await until(events, "session.idle")

            async def begin(name: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
                script.turns.append(Turn(tools=[ToolUse(name, arguments)]))
                await client.prompt_async(session, "Call it.")
                return (await until(events, "question.asked")).properties

            async def output() -> str:
                await until(events, "session.idle")
                state = parts_of(await client.messages(session), "tool")[-1]["state"]
                return str(state.get("output", state.get("error")))

            first = await begin("e_trigger-elicitation-request", {})
            assert "The MCP server e asks: Please provide" in first["questions"][0]["question"]
            given = {"String": ["Ann"], "String with email format": ["nonsense"], "Integer": ["7"]}
            answers = [given.get(question["header"], first_of(question)) for question in first["questions"]]
            await client.post(f"/question/{first['id']}/reply", {"answers": answers})
            again = (await until(events, "question.asked")).properties
            assert [question["header"] for question in again["questions"]] == ["String with email format"]
            assert "does not look right" in again["questions"][0]["question"]
            await client.post(f"/question/{again['id']}/reply", {"answers": [["ann@example.com"]]})
            told = await output()
            assert "User provided the requested information" in told
            assert '"name": "Ann"' in told
            assert '"integer": 7' in told
            assert '"email": "ann@example.com"' in told

            refused = await begin("e_trigger-elicitation-request", {})
            await client.post(f"/question/{refused['id']}/reject")
            assert "declined" in await output()

            visit = {"url": "https://example.com/pay?x=1", "message": "Pay."}
            page = await begin("e_trigger-url-elicitation", visit)
            assert (
                "this page at example.com:\nhttps://example.com/pay?x=1" in page["questions"][0]["question"]
            )
            await client.post(f"/question/{page['id']}/reply", {"answers": [first_of(page["questions"][0])]})
            assert "User completed the URL elicitation flow" in await output()

            page = await begin("e_trigger-url-elicitation", {**visit, "errorPath": True})
            assert "this page at modelcontextprotocol.io:" in page["questions"][0]["question"]
            await client.post(f"/question/{page['id']}/reply", {"answers": [first_of(page["questions"][0])]})
            retried = (await until(events, "question.asked")).properties
            assert "this page at example.com:" in retried["questions"][0]["question"]
            await client.post(f"/question/{retried['id']}/reply", {"answers": [["Decline"]]})
            assert "declined" in await output()

            left = await begin("e_trigger-elicitation-request", {})
            await client.abort(session)
            assert (await until(events, "question.rejected")).properties["requestID"] == left["id"]
            await until(events, "session.idle")

            left = await begin("e_trigger-elicitation-request", {})
            os.kill(program_of(server, "mcp-server-everything"), signal.SIGKILL)
            assert (await until(events, "question.rejected")).properties["requestID"] == left["id"]
            assert "The MCP server e went away in the middle of the call. ended by SIGKILL" in await output()
            assert await client.get("/question") == []


async def test_a_question_belongs_to_all_calls_in_flight(home: Path, project: Path) -> None:
    uses = [ToolUse("raw_pair", {"number": number}) for number in (1, 2)]
    script = [Turn(tools=uses), Turn(text="Done.")]
    async with OpenAIServer(script, title=None) as model:
        config = model_config(model.base_url, mcp={"raw": raw()})
        async with running(Server(home, project, config)) as client, client.events() as events:
            await ready(client, "raw_pair")
            session = (await client.create_session("named"))["id"]
            await client.prompt_async(session, "Call it.")
            asked = (await until(events, "question.asked")).properties
            while True:
                part = (await until(events, "message.part.updated")).properties["part"]
                if part.get("tool") == "raw_pair" and part["state"]["status"] == "completed":
                    break
            assert [request["id"] for request in await client.get("/question")] == [asked["id"]]
            await client.post(f"/question/{asked['id']}/reply", {"answers": [["plum"]]})
            await until(events, "session.idle")
            states = [part["state"] for part in parts_of(await client.messages(session), "tool")]
            outputs = {state["output"] for state in states}
            assert outputs == {"at once", json.dumps({"action": "accept", "content": {"word": "plum"}})}


def program_of(server: Server, name: str) -> int:
    """The process of this name that a server has started."""
    assert server.process is not None
    for process in psutil.Process(server.process.pid).children():
        if any(name in argument for argument in process.cmdline()):
            return process.pid
    raise AssertionError(f"{name} does not run")


def first_of(question: Mapping[str, Any]) -> list[str]:
    """The first thing that can be chosen."""
    return [option["label"] for option in question["options"][:1]]


async def test_a_server_asks_the_model_where_the_user_allows_it(
    home: Path, project: Path, everything: dict[str, Any]
) -> None:
    def use(server: str) -> Turn:
        return Turn(
            tools=[ToolUse(f"{server}_trigger-sampling-request", {"prompt": "Say hi.", "maxTokens": 9})]
        )

    script = Script()
    async with OpenAIServer(script, title=None) as model:
        servers = {"no": everything, "yes": {**everything, "sampling": True}}
        config = model_config(model.base_url, mcp=servers)
        async with running(Server(home, project, config)) as client, client.events() as events:
            await ready(client, "no_echo", "yes_echo")
            names = await client.get("/experimental/tool/ids")
            assert "no_trigger-sampling-request" not in names
            session = (await client.create_session("named"))["id"]
            script.turns.extend([use("yes"), Turn(text="Hi, server."), Turn(text="Done.")])
            await client.prompt_async(session, "Call it.")
            request = (await until(events, "permission.asked")).properties
            assert (request["permission"], request["patterns"]) == ("mcp_sampling", ["yes"])
            assert "Say hi." in request["metadata"]["prompt"]
            await client.reply(request["id"], "once")
            await until(events, "session.idle")
            state = parts_of(await client.messages(session), "tool")[-1]["state"]
            assert "Hi, server." in state["output"]
            put = model.requests[1].body
            assert put["max_tokens"] == 9
            assert "tools" not in put
            steps = parts_of(await client.messages(session), "step-finish")
            counted = (await client.get(f"/session/{session}"))["tokens"]["output"]
            assert counted == sum(step["tokens"]["output"] for step in steps) * 3 / 2, "and the answer to it"
            script.turns.append(use("yes"))
            await client.prompt_async(session, "Call it.")
            request = (await until(events, "permission.asked")).properties
            await client.reply(request["id"], "reject")
            await until(events, "session.idle")
            state = parts_of(await client.messages(session), "tool")[-1]["state"]
            assert "The user does not allow it." in state["error"]
