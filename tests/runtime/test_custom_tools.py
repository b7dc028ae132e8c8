"""Custom tools in whole turns: both kinds of schema, what they may, and what a bad one costs."""

from __future__ import annotations

from pathlib import Path

from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.site.security.browser import browsing
from tests.runtime.trusting import notices, trust, write
from tests.server import Server, model_config, parts_of, running, until

TOOLS = """
from __future__ import annotations

import asyncio
import time
from pydantic import BaseModel, Field
from opencode_web.plugin import tool

class Sum(BaseModel):
    left: int = Field(description="The first number.")
    right: int

@tool("add", "Adds two numbers.", Sum)
async def add(args: Sum, context):
    await context.update(title="adding", metadata={"half": True})
    return ("A sum", str(args.left + args.right), {"left": args.left})

@tool("note", "Writes a note.", {"type": "object", "properties": {"text": {}}, "required": ["text"]})
async def note(args, context):
    (context.directory / "note.txt").write_text(args["text"])
    return "written"

@tool("secret", "Asks for more.")
async def secret(args, context):
    await context.ask("vault", ["gold"])
    return "never"

@tool("fails", "Raises.")
async def fails(args, context):
    raise ValueError("so it goes")

@tool("wrong", "Returns no text.")
async def wrong(args, context):
    return 3

@tool("read", "Wants the place of a built-in one.")
async def read(args, context):
    return "not the file"

@tool("slow", "Blocks its thread.")
async def slow(args, context):
    (context.directory / "slow.txt").touch()
    time.sleep(600)
"""
NAMES = ("add", "note", "secret", "fails", "wrong", "slow")
ALLOWED = {"*": "allow", **dict.fromkeys(NAMES, "allow"), "vault": "deny"}


async def test_both_kinds_of_parameters_and_every_kind_of_answer(home: Path, project: Path) -> None:
    uses = [
        ToolUse("add", {"left": 2, "right": 3}),
        ToolUse("add", {"left": "two", "right": 3}),
        ToolUse("note", {"text": "kept"}),
        ToolUse("note", {}),
        ToolUse("secret", {}),
        ToolUse("fails", {}),
        ToolUse("wrong", {}),
        ToolUse("read", {"filePath": "hello.py"}),
    ]
    write(home, {".config/opencode/tools/mine.py": TOOLS})
    async with OpenAIServer([Turn(tools=uses), Turn(text="Done.")], title=None) as model:
        server = Server(home, project, model_config(model.base_url, permission=ALLOWED))
        async with running(server) as client, browsing(server) as browser:
            session = await client.create_session("named")
            await client.prompt(session["id"], "Use them.")
            shown = {tool["function"]["name"]: tool["function"] for tool in model.requests[0].body["tools"]}
            assert shown["add"]["parameters"]["properties"]["left"]["description"] == "The first number."
            assert shown["note"]["parameters"]["required"] == ["text"]
            history = await client.messages(session["id"])
            sum_, bad, note, empty, secret, fails, wrong, read = (
                part["state"] for part in parts_of(history, "tool")
            )
            assert (sum_["title"], sum_["output"], sum_["metadata"]["left"]) == ("A sum", "5", 2)
            assert "left: Input should be a valid integer" in bad["error"]
            assert note["output"] == "written"
            assert "text is missing" in empty["error"]
            assert "vault is denied" in secret["error"]
            assert "ValueError: so it goes" in fails["error"]
            assert "neither a text" in wrong["error"]
            assert "def hello" in read["output"]
            assert "a built-in tool has this name" in await notices(browser, session["projectID"])
            (diff,) = await client.diff(session["id"], history[0]["info"]["id"])
            assert (diff["file"], diff["status"]) == ("note.txt", "added")
            await client.revert(session["id"], history[0]["info"]["id"])
            assert not (project / "note.txt").exists()


async def test_a_repositorys_tool_asks_until_a_rule_names_it(home: Path, project: Path) -> None:
    write(project, {".opencode/tools/mine.py": TOOLS})
    script = [
        turn for _ in "ab" for turn in (Turn(tools=[ToolUse("note", {"text": "x"})]), Turn(text="Done."))
    ]
    async with OpenAIServer(script, title=None) as model:
        server = Server(home, project, model_config(model.base_url))  # "*": "allow"
        async with running(server) as client, browsing(server) as browser:
            session = await client.create_session("named")
            await trust(browser, session["projectID"])
            async with client.events() as events:
                await client.prompt_async(session["id"], "Note it.")
                asked = await until(events, "permission.asked")
                assert (asked.properties["permission"], asked.properties["patterns"]) == ("note", ["*"])
                assert not (project / "note.txt").exists()
                await client.reply(asked.properties["id"], "always")
                await until(events, "session.idle")
            await client.prompt(session["id"], "And again.")
            states = [part["state"] for part in parts_of(await client.messages(session["id"]), "tool")]
            assert [state["status"] for state in states] == ["completed", "completed"]


async def test_stop_ends_a_tool_that_blocks_and_pages_answer_meanwhile(home: Path, project: Path) -> None:
    write(home, {".config/opencode/tool/mine.py": TOOLS})
    script = [Turn(tools=[ToolUse("slow", {})]), Turn(text="Other.")]
    async with OpenAIServer(script, title=None) as model:
        server = Server(home, project, model_config(model.base_url, permission=ALLOWED))
        async with running(server) as client, client.events() as events:
            session = await client.create_session("named")
            await client.prompt_async(session["id"], "Be slow.")
            while not (project / "slow.txt").exists():
                await until(events, "message.part.updated")
                assert (await client.health())["healthy"]
                if "running" in str(await client.messages(session["id"])):
                    break
            await client.abort(session["id"])
            await until(events, "session.idle")
            (part,) = parts_of(await client.messages(session["id"]), "tool")
            assert part["state"]["status"] == "error"
            other = await client.create_session("named")
            assert await client.prompt(other["id"], "Go on.")
