"""Subagents through the real server: in parallel, asked about, gone on with, refused, named by the user."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.loopback.script import Body, ToolUse, Turn, Wait
from tests.processes import noted
from tests.runtime.cast import (
    AGENTS,
    LOOKING,
    Cast,
    cast,
    task,
    task_parts,
    until_card,
    until_output,
)
from tests.server import parts_of, until

DELEGATING: dict[str, Any] = {
    "worker": {"mode": "subagent", "permission": {"task": "allow", "bash": {"touch *": "ask"}}}
}
"""One that sends others like it, which ask before they touch a file."""


async def test_three_at_once_and_one_asks_in_the_session_above(home: Path, project: Path) -> None:
    played = Cast(
        Parent=[Turn(tools=[task("First"), task("Second"), task("Third")]), Turn(text="All seen.")],
        First=[Turn(text=["one", Wait("first")])],
        Second=[Turn(tools=[ToolUse("bash", {"command": "git log -1"})]), Turn(text="two")],
        Third=[Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]), Turn(text="three")],
    )
    asking = {**LOOKING, "permission": {"bash": {"git log *": "ask"}}}
    async with cast(home, project, played, agent={"explore": asking}) as (client, model, _):
        parent = (await client.create_session("Parent"))["id"]
        async with client.events() as events:
            await client.prompt_async(parent, "Parent")
            asked = (await until(events, "permission.asked")).properties
            await model.wait_for_request(4)
            assert asked["sessionID"] != parent
            assert (await client.session(asked["sessionID"]))["parentID"] == parent
            await until_card(events, parent, sessionId=asked["sessionID"], waiting=True)
            await client.reply(asked["id"], "once")
            model.gate("first").open()
            await until(events, "session.idle", sessionID=parent)
        found = await task_parts(client, parent)
        assert [part["state"]["status"] for part in found] == ["completed"] * 3
        assert [
            text in part["state"]["output"] for part, text in zip(found, ("one", "two", "three"), strict=True)
        ]
        assert found[0]["state"]["title"] == "look at First"
        second = found[1]["state"]["metadata"]
        assert (second["sessionId"], second["calls"], second["waiting"]) == (asked["sessionID"], 1, False)
        assert second["model"] == {"providerID": "fake", "modelID": "fake"}
        assert second["summary"][0]["tool"] == "bash"
        children = await client.get(f"/session/{parent}/children")
        assert [child["title"] for child in children] == [
            f"look at {word} (@explore subagent)" for word in ("First", "Second", "Third")
        ]
        assert await client.status() == {}


async def test_an_errand_is_gone_on_with_by_its_id(home: Path, project: Path) -> None:
    def again(body: Body) -> Turn:
        found = re.search(r"task_id: (ses_\w+)", str(body["messages"]))
        assert found is not None
        known = {"prompt": "And what else?", "task_id": found[1]}
        return Turn(tools=[task("First", **known), task("First", task_id="ses_unknown")])

    played = Cast(
        Parent=[Turn(tools=[task("First")]), again, Turn(text="Done.")],
        First=[Turn(text="one"), Turn(text="two")],
    )
    async with cast(home, project, played) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        await client.prompt(parent, "Parent")
        first, second, third = await task_parts(client, parent)
        assert "two" in second["state"]["output"]
        assert first["state"]["metadata"]["sessionId"] == second["state"]["metadata"]["sessionId"]
        assert "one" in str(played.bodies["First"][1]["messages"])
        assert "ses_unknown" in third["state"]["error"]
        assert len(await client.get(f"/session/{parent}/children")) == 1


async def test_of_two_who_go_on_with_one_errand_one_is_told_to_wait(home: Path, project: Path) -> None:
    def both(body: Body) -> Turn:
        found = re.search(r"task_id: (ses_\w+)", str(body["messages"]))
        assert found is not None
        return Turn(tools=[task("First", prompt=words, task_id=found[1]) for words in ("Alpha?", "Beta?")])

    played = Cast(
        Parent=[Turn(tools=[task("First")]), both, Turn(text="Done.")],
        First=[Turn(text="one"), lambda body: Turn(text="alpha" if "Alpha?" in str(body) else "beta")],
    )
    async with cast(home, project, played) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        await client.prompt(parent, "Parent")
        _, *again = await task_parts(client, parent)
        states = {part["state"]["input"]["prompt"]: part["state"] for part in again}
        told = {words: state.get("output", "") + state.get("error", "") for words, state in states.items()}
        (worked,) = [words for words, state in states.items() if state["status"] == "completed"]
        assert worked.rstrip("?").lower() in told.pop(worked)
        assert "still being worked on" in told.popitem()[1]


async def test_an_unknown_subagent_is_told_with_those_there_are(home: Path, project: Path) -> None:
    played = Cast(Parent=[Turn(tools=[task("First", "build"), task("First", "nobody")]), Turn(text="I see.")])
    async with cast(home, project, played) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        await client.prompt(parent, "Parent")
        errors = [part["state"]["error"] for part in await task_parts(client, parent)]
        assert ["'build'" in errors[0], "'nobody'" in errors[1]] == [True, True]
        assert "explore" in errors[1]
        assert "worker" in errors[1]
        assert await client.get(f"/session/{parent}/children") == []


def tools_of(body: Body) -> set[str]:
    return {tool["function"]["name"] for tool in body.get("tools", [])}


async def test_a_subagent_sends_none_and_keeps_off_the_todos(home: Path, project: Path) -> None:
    todos = ToolUse("todowrite", {"todos": [{"content": "x", "status": "pending"}]})
    played = Cast(
        Parent=[Turn(tools=[task("First")]), Turn(text="Done.")],
        First=[Turn(tools=[task("Second"), todos]), Turn(text="one")],
    )
    async with cast(home, project, played) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        await client.prompt(parent, "Parent")
        (part,) = await task_parts(client, parent)
        child = part["state"]["metadata"]["sessionId"]
        assert "task" in tools_of(played.bodies["Parent"][0])
        assert not {"task", "todowrite", "todoread"} & tools_of(played.bodies["First"][0])
        parts = parts_of(await client.messages(child), "tool")
        assert [part["state"]["status"] for part in parts] == ["error"] * 2
        assert len(await client.sessions()) == 2


async def test_a_subagent_sends_others_where_configuration_says_so(home: Path, project: Path) -> None:
    played = Cast(
        Parent=[Turn(tools=[task("First", "worker")]), Turn(text="Done.")],
        First=[Turn(tools=[task("Second", "worker")]), Turn(text="one")],
        Second=[Turn(text="two")],
    )
    agents = {**AGENTS, "worker": {"mode": "subagent", "permission": {"task": "allow"}}}
    async with cast(home, project, played, agent=agents, subagent_depth=2) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        await client.prompt(parent, "Parent")
        (part,) = await task_parts(client, parent)
        (inner,) = await task_parts(client, part["state"]["metadata"]["sessionId"])
        assert "two" in inner["state"]["output"]


async def test_a_planning_session_gets_nothing_changed_by_a_subagent(home: Path, project: Path) -> None:
    write = ToolUse("write", {"filePath": "made.txt", "content": "x"})
    shell = ToolUse("bash", {"command": "echo x > made.txt"})
    played = Cast(
        Parent=[Turn(tools=[task("First", "worker")]), Turn(text="Done.")],
        First=[Turn(tools=[write, shell]), Turn(text="one")],
    )
    async with cast(home, project, played) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        await client.prompt(parent, "Parent", agent="plan")
        (part,) = await task_parts(client, parent)
        for inner in parts_of(await client.messages(part["state"]["metadata"]["sessionId"]), "tool"):
            assert "edit is denied" in inner["state"]["error"]
        assert not (project / "made.txt").exists()


async def test_who_names_a_subagent_is_not_asked(home: Path, project: Path) -> None:
    played = Cast(
        Parent=[
            Turn(tools=[task("First"), task("Second", "worker")]),
            Turn(text="Seen."),
            Turn(tools=[task("First")]),
            Turn(text="Seen again."),
        ],
        First=[Turn(text="one"), Turn(text="two")],
    )
    permission = {"*": "allow", "task": {"*": "ask", "worker": "deny"}}
    async with cast(home, project, played, permission=permission) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        mention = {"type": "agent", "name": "explore"}
        parts = [{"type": "text", "text": "Parent: @explore look"}, mention, {**mention, "name": "worker"}]
        await client.post(f"/session/{parent}/message", {"parts": parts})
        assert 'subagent "explore"' in str(played.bodies["Parent"][0]["messages"][-1])
        first, second = await task_parts(client, parent)
        assert first["state"]["status"] == "completed"
        assert "task is denied" in second["state"]["error"]
        before = played.bodies["Parent"][1]["messages"]
        async with client.events() as events:
            await client.prompt_async(parent, "And again.")
            asked = await until(events, "permission.asked", sessionID=parent)
            assert (asked.properties["permission"], asked.properties["patterns"]) == ("task", ["explore"])
            await client.reply(asked.properties["id"], "once")
            await until(events, "session.idle", sessionID=parent)
        assert played.bodies["Parent"][2]["messages"][: len(before)] == before


async def test_errands_of_a_prompt_run_before_the_model_is_asked(home: Path, project: Path) -> None:
    played = Cast(errand=[Turn(text="Summed up.")], First=[Turn(text="one")], Second=[Turn(text="two")])
    async with cast(home, project, played, permission={"*": "allow", "task": "ask"}) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        subtask = {"type": "subtask", "agent": "explore", "description": "an errand", "prompt": "First"}
        parts = [subtask, {**subtask, "prompt": "Second", "command": "look"}]
        answer = await client.post(f"/session/{parent}/message", {"parts": parts})
        assert [part["text"] for part in answer["parts"] if part["type"] == "text"] == ["Summed up."]
        first, second = await task_parts(client, parent)
        assert (first["state"]["status"], second["state"]["status"]) == ("completed", "completed")
        (asked,) = played.bodies["errand"]
        assert [message["role"] for message in asked["messages"]][-4:] == [
            "user",
            "assistant",
            "tool",
            "tool",
        ]
        assert "two" in str(asked["messages"][-1])


async def test_what_is_asked_two_levels_down_is_asked_at_the_top(home: Path, project: Path) -> None:
    played = Cast(
        Parent=[Turn(tools=[task("First", "worker")]), Turn(text="Done.")],
        First=[Turn(tools=[task("Second", "worker")]), Turn(text="one")],
        Second=[Turn(tools=[ToolUse("bash", {"command": "touch made"})]), Turn(text="two")],
    )
    async with cast(home, project, played, agent=DELEGATING, subagent_depth=2) as (client, _, _):
        session = await client.create_session("Parent")
        parent = session["id"]
        async with client.events() as events:
            await client.prompt_async(parent, "Parent")
            asked = (await until(events, "permission.asked")).properties
            await until_card(events, parent, waiting=True)
            page = (await client.http.get(f"/p/{session['projectID']}/s/{parent}")).text
            assert f"{asked['id']}" in page
            assert "look at Second (@worker subagent)" in page
            await client.reply(asked["id"], "once")
            await until(events, "session.idle", sessionID=parent)
        (outer,) = await task_parts(client, parent)
        assert outer["state"]["metadata"]["waiting"] is False
        (inner,) = await task_parts(client, outer["state"]["metadata"]["sessionId"])
        assert "two" in inner["state"]["output"]
        assert (project / "made").exists()


async def test_a_stop_at_the_top_frees_what_waits_two_levels_down(home: Path, project: Path) -> None:
    sleep = ToolUse("bash", {"command": "echo $$ > pid; echo begun; exec sleep 600"})
    played = Cast(
        Parent=[Turn(tools=[task("First", "worker"), task("Third", "worker")])],
        First=[Turn(tools=[task("Second", "worker")])],
        Second=[Turn(tools=[ToolUse("bash", {"command": "touch made"})])],
        Third=[Turn(tools=[task("Fourth", "worker")])],
        Fourth=[Turn(tools=[sleep])],
    )
    agent = {
        **DELEGATING["worker"],
        "permission": {"task": "allow", "bash": {"*": "allow", "touch *": "ask"}},
    }
    async with cast(home, project, played, agent={"worker": agent}, subagent_depth=2) as (client, _, _):
        parent = (await client.create_session("Parent"))["id"]
        async with client.events() as events, client.events() as output:
            await client.prompt_async(parent, "Parent")
            asked = (await until(events, "permission.asked")).properties
            await until_output(output, "begun")
            assert len(await client.status()) == 5
            await client.abort(parent)
            await until(events, "session.idle", sessionID=parent)
        assert await client.status() == {}
        assert await client.permissions() == []
        assert not noted(project / "pid")
        assert not (project / "made").exists()
        answer = (await client.messages(asked["sessionID"]))[-1]
        assert answer["info"]["error"]["name"] == "MessageAbortedError"
        for outer in await task_parts(client, parent):
            (inner,) = await task_parts(client, outer["state"]["metadata"]["sessionId"])
            assert [part["state"]["metadata"]["interrupted"] for part in (outer, inner)] == [True, True]
