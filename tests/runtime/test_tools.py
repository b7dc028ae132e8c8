"""Tools that need the whole runtime: patches and their undo, batches, formatters."""

from __future__ import annotations

import asyncio
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents.toolkit.names import NAMES
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.runtime.trusting import write
from tests.server import PATIENCE, Server, model_config, parts_of, running, serving, until

PATCH = """*** Begin Patch
*** Update File: hello.py
*** Move to: sub/greeting.py
@@
-    return 'hello'
+    return 'goodbye'
*** Add File: new.txt
+new
*** Delete File: gone.txt
*** End Patch"""


ON_REQUEST = {"batch", "list", "multiedit", "todoread"}


def gpt(base_url: str) -> dict[str, Any]:
    config = model_config(base_url)
    config["provider"]["fake"]["models"] = {"gpt-4.1": {"name": "GPT", "tool_call": True}}
    return config | {"model": "fake/gpt-4.1"}


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def offered(body: dict[str, Any]) -> set[str]:
    return {tool["function"]["name"] for tool in body["tools"]}


async def test_gpt_models_patch_and_a_patch_is_undone_and_redone(home: Path, project: Path) -> None:
    (project / "gone.txt").write_text("still here\n")
    (project / "hello.py").chmod(0o700)
    script = [Turn(tools=[ToolUse("apply_patch", {"patchText": PATCH})]), Turn(text="Patched.")]
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, gpt(model.base_url))) as client,
    ):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Patch it.")
        assert "apply_patch" in offered(model.requests[0].body)
        assert not {"edit", "write", "multiedit"} & offered(model.requests[0].body)
        history = await client.messages(session["id"])
        (part,) = parts_of(history, "tool")
        assert part["state"]["status"] == "completed", part["state"]
        assert not (project / "hello.py").exists()
        assert "goodbye" in (project / "sub/greeting.py").read_text()
        assert mode(project / "sub/greeting.py") == 0o700
        await client.revert(session["id"], history[0]["info"]["id"])
        assert "'hello'" in (project / "hello.py").read_text()
        assert mode(project / "hello.py") == 0o700
        assert (project / "gone.txt").read_text() == "still here\n"
        assert not (project / "sub").exists()
        assert not (project / "new.txt").exists()
        await client.unrevert(session["id"])
        assert not (project / "gone.txt").exists()
        assert (project / "new.txt").read_text() == "new\n"


async def test_other_models_edit(home: Path, project: Path) -> None:
    async with serving(home, project, [Turn(text="Hello.")]) as (client, model):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Hello.")
        names = offered(model.requests[0].body)
        assert {"edit", "write", "webfetch"} <= names
        assert not {"apply_patch", "websearch", "codesearch", "invalid", *ON_REQUEST} & names


async def test_some_tools_are_offered_where_the_configuration_asks(home: Path, project: Path) -> None:
    script = [Turn(text="Hello."), Turn(text="Hello.")]
    given = {
        "tools": {"batch": True, "multi*": True},
        "agent": {"plan": {"tools": {"list": True, "batch": False}}},
    }
    async with serving(home, project, script, **given) as (client, model):
        session = await client.create_session(title="named")
        for agent in ("build", "plan"):
            await client.prompt(session["id"], "Hello.", agent=agent)
        build, planned = (offered(request.body) & ON_REQUEST for request in model.requests)
        assert (build, "list" in planned, "batch" in planned) == ({"batch", "multiedit"}, True, False)


@pytest.mark.parametrize(
    "name", ["fake-1", "gpt-4.1", "gpt-5-codex", "claude-x", "gemini-3", "kimi-k2", "glm-4.7", "qwen3-coder"]
)
@pytest.mark.parametrize("agent", ["build", "explore"])
async def test_no_text_names_a_tool_that_is_not_offered(
    home: Path, project: Path, name: str, agent: str
) -> None:
    async with OpenAIServer([Turn(text="Hello.")]) as model:
        config = model_config(model.base_url, permission={"task": "deny", "webfetch": "deny"})
        config["provider"]["fake"]["models"] = {name: {"name": "It", "tool_call": True}}
        async with running(Server(home, project, {**config, "model": f"fake/{name}"})) as client:
            session = await client.create_session(title="named")
            await client.prompt(session["id"], "Hello.", agent=agent)
            body = model.requests[0].body
            system = [
                str(said["content"]) for said in body["messages"] if said["role"] in ("system", "developer")
            ]
            texts = [*system, *(tool["function"]["description"] for tool in body["tools"])]
            named = {word for text in texts for word in re.findall(r"`(\w+)`", text)} & NAMES
            assert named <= offered(body)


async def test_each_call_of_a_batch_asks_and_settles_on_its_own(home: Path, project: Path) -> None:
    calls = [
        {"tool": "read", "parameters": {"filePath": "hello.py"}},
        {"tool": "write", "parameters": {"filePath": "made.txt", "content": "made"}},
        {"tool": "bash", "parameters": {"command": "echo no"}},
        {"tool": "reed", "parameters": {}},
    ]
    script = [Turn(tools=[ToolUse("batch", {"tool_calls": calls})]), Turn(text="Done.")]
    async with OpenAIServer(script) as model:
        config = model_config(model.base_url, permission={"edit": "ask", "bash": "deny"})
        async with running(Server(home, project, config)) as client, client.events() as events:
            session = await client.create_session(title="named")
            await client.prompt_async(session["id"], "Do all that.")
            asked = await until(events, "permission.asked")
            assert asked.properties["permission"] == "edit"
            assert not (project / "made.txt").exists()
            await client.reply(asked.properties["id"], "once")
            await until(events, "session.idle")
            tools = parts_of(await client.messages(session["id"]), "tool")
            states = {part["tool"]: part["state"]["status"] for part in tools}
            assert states == {
                "batch": "completed",
                "read": "completed",
                "write": "completed",
                "bash": "error",
                "invalid": "completed",
            }
            sent = model.requests[1].body["messages"]
            (result,) = [message for message in sent if message["role"] == "tool"]
            assert "Batch execution (3/4 successful)" in result["content"]
            assert "def hello" in result["content"]
            assert len([call for message in sent for call in message.get("tool_calls") or []]) == 1


async def test_a_stop_settles_every_call_of_a_batch(home: Path, project: Path) -> None:
    quick = "echo begun; sleep 60"
    slow = "trap '' TERM; echo $$ > pid; echo begun; while :; do sleep 0.05; done"  # has to be killed
    calls = [{"tool": "bash", "parameters": {"command": command}} for command in (quick, slow)]
    script = [Turn(tools=[ToolUse("batch", {"tool_calls": calls})])]
    async with serving(home, project, script) as (client, _), client.events() as events:
        session = await client.create_session(title="named")
        await client.prompt_async(session["id"], "Do both.")
        begun: set[str] = set()
        async with asyncio.timeout(PATIENCE):
            while len(begun) < 2:
                event = await until(events, "message.part.updated")
                part = event.properties["part"]
                if "begun" in str((part.get("state") or {}).get("metadata")):
                    begun.add(part["id"])
        await client.abort(session["id"])
        await until(events, "session.idle")
        tools = parts_of(await client.messages(session["id"]), "tool")
        assert sorted(part["tool"] for part in tools) == ["bash", "bash", "batch"]
        for part in tools:
            assert part["state"]["status"] == "error", part
            assert part["state"]["metadata"]["interrupted"] is True
        with pytest.raises(ProcessLookupError):  # nothing of it goes on when the turn has ended
            os.kill(int((project / "pid").read_text()), 0)


async def test_a_formatter_runs_after_an_edit_and_its_work_is_undone_with_it(
    home: Path, project: Path
) -> None:
    script = home / "upper.sh"
    script.write_text('#!/bin/sh\ntr a-z A-Z < "$1" > "$1.tmp" && mv "$1.tmp" "$1"\necho x > beside.txt\n')
    script.chmod(0o755)
    write = ToolUse("write", {"filePath": "a.txt", "content": "loud\n"})
    broken = ToolUse("write", {"filePath": "a.broken", "content": "quiet\n"})
    (project / "a.gone").write_text("mine\n")
    gone = ToolUse("write", {"filePath": "a.gone", "content": "agent's\n"})
    formatter = {
        "upper": {"command": [str(script), "$FILE"], "extensions": [".txt"]},
        "broken": {"command": ["sh", "-c", "exit 3", "$FILE"], "extensions": [".broken"]},
        "missing": {"command": ["no-such-program", "$FILE"], "extensions": [".txt"]},
        "removes": {"command": ["rm", "$FILE"], "extensions": [".gone"]},
    }
    look = ToolUse("read", {"filePath": "a.gone"})
    turns = [Turn(tools=[look]), Turn(tools=[write, broken, gone]), Turn(text="Done.")]
    async with serving(home, project, turns, formatter=formatter) as (client, _):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Write it.")
        assert (project / "a.txt").read_text() == "LOUD\n"
        assert (project / "a.broken").read_text() == "quiet\n"
        history = await client.messages(session["id"])
        calls = {part["state"]["input"]["filePath"]: part["state"] for part in parts_of(history, "tool")}
        assert "a formatter (removes) removed it" in calls["a.gone"]["error"]
        part = next(part for part in parts_of(history, "tool") if part["state"].get("title") == "a.txt")
        assert "+LOUD" in part["state"]["metadata"]["diff"]
        diffs = await client.diff(session["id"], history[0]["info"]["id"])
        assert {diff["file"] for diff in diffs} == {"a.txt", "a.broken", "a.gone", "beside.txt"}
        await client.revert(session["id"], history[0]["info"]["id"])
        left = await asyncio.to_thread(lambda: sorted(path.name for path in project.iterdir()))
        assert left == [".git", "a.gone", "hello.py"]
        assert (project / "a.gone").read_text() == "mine\n"


async def test_a_patch_whose_context_is_absent_changes_nothing_and_says_what_is_missing(
    home: Path, project: Path
) -> None:
    patch = "\n".join(
        (
            "*** Begin Patch",
            "*** Add File: new.txt",
            "+new",
            "*** Update File: hello.py",
            "@@",
            " no such line",
            "-nor this",
            "+but this",
            "*** End Patch",
        )
    )
    script = [Turn(tools=[ToolUse("apply_patch", {"patchText": patch})]), Turn(text="I see.")]
    async with (
        OpenAIServer(script) as model,
        running(Server(home, project, gpt(model.base_url))) as client,
    ):
        session = await client.create_session(title="named")
        answer = await client.prompt(session["id"], "Patch it.")
        assert parts_of([answer], "text")[0]["text"] == "I see."
        told = str(model.requests[1].body["messages"][-1])
        assert "hello.py" in told
        assert "no such line" in told
        assert "'hello'" in (project / "hello.py").read_text()
        assert not (project / "new.txt").exists()


async def test_an_unknown_tool_is_answered_with_the_names_there_are(home: Path, project: Path) -> None:
    write(
        project,
        {
            ".opencode/tool/sums.py": 'from opencode_web.plugin import tool\n\n@tool("add", "Adds.")\n',
            "opencode.json": '{"mcp": {"docs": {"type": "local", "command": ["docs"]}}}',
        },
    )
    names = ("search_grep", "add", "docs_find")
    script = [Turn(tools=[ToolUse(name, {"of": name}) for name in names]), Turn(text="I see.")]
    async with serving(home, project, script, permission={"glob": "deny"}) as (client, model):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Look.")
        unknown, tool, server = parts_of(await client.messages(session["id"]), "tool")
        told = unknown["state"]["output"]
        assert told.startswith(
            "The call of 'search_grep' was not made: there is no tool of this name. There are, the most "
            "similar first: grep, "
        )
        named = set(told.rstrip(".").rpartition("first: ")[2].split(", "))
        assert named == offered(model.requests[0].body)
        waits = "it waits for trust: a person has to trust {} first. Go on without it."
        assert tool["state"]["output"].endswith(waits.format(".opencode/tool/sums.py"))
        assert server["state"]["output"].endswith(waits.format("opencode.json"))


async def test_a_denied_tool_is_named_with_the_agent(home: Path, project: Path) -> None:
    script = [Turn(tools=[ToolUse("write", {"filePath": "a", "content": "b"})]), Turn(text="I see.")]
    async with serving(home, project, script) as (client, _):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Look.", agent="explore")
        (part,) = parts_of(await client.messages(session["id"]), "tool")
        told = part["state"]["error"]
        assert 'deny this call of write: edit is denied for "*" for the agent explore.' in told


async def test_the_scratch_folder_is_named_and_needs_no_permission(home: Path, project: Path) -> None:
    places = []

    def play(body: Mapping[str, Any]) -> Turn:
        named = re.search(r"go into (/\S+): nobody", str(body["messages"]))
        assert named
        places.append(Path(named[1]))
        command = f"echo tried > {named[1]}/a.txt; cat {named[1]}/a.txt"
        asked = body["messages"][-1]["role"] == "tool"
        return Turn(text="Done.") if asked else Turn(tools=[ToolUse("bash", {"command": command})])

    async with serving(home, project, play) as (client, _):
        session = await client.create_session(title="named")
        await client.prompt(session["id"], "Try it.")
        (part,) = parts_of(await client.messages(session["id"]), "tool")
        assert part["state"]["output"] == "tried\n"
        assert places[0] == places[1]
        assert places[0].name == session["id"]
        assert places[0].stat().st_mode & 0o077 == 0
