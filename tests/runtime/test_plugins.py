"""Plugins in whole turns: each hook at its place, and what a bad plugin costs."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from bench.client import Client
from tests.loopback.openai import OpenAIServer
from tests.loopback.script import ToolUse, Turn
from tests.opencode_web.site.security.browser import Browser
from tests.runtime.asking import decisions
from tests.runtime.trusting import notices, trust, with_files, write
from tests.server import ROOT, Server, model_config, parts_of, running, until

EVERYTHING = """
from opencode_web.plugin import Refused, tool

TOLD = []

@tool("shout", "Says a word loudly.", {"type": "object", "properties": {"word": {"type": "string"}}})
async def shout(args, context):
    return args["word"].upper()

async def plugin(ctx):
    log = ctx.directory / "told.txt"

    def tell(*words):
        with log.open("a") as file:
            print(*words, file=file)

    async def event(input):
        if input["event"]["type"] == "session.idle":
            tell("event", input["event"]["type"])

    async def config(config):
        tell("config", config["model"])

    async def message(input, output):
        output["parts"].append({"type": "text", "text": f"(to {input['agent']})"})

    async def params(input, output):
        assert output["temperature"] is None
        output["temperature"] = 0.25
        output["topP"] = 0.5
        output["maxOutputTokens"] = 123

    async def headers(input, output):
        output["headers"]["x-session"] = input["sessionID"]

    async def system(input, output):
        output["system"] += ["third", "fourth"]

    async def definition(input, output):
        if input["toolID"] == "read":
            output["description"] = "Reads what the plugin says."

    async def before(input, output):
        if "forbidden" in str(output["args"]):
            raise Refused("Not with this plugin.")
        if input["tool"] == "bash":
            output["args"]["command"] += " && echo added"

    async def after(input, output):
        output["title"] = "titled " + input["tool"]
        output["output"] = output["output"].replace("hello", "goodbye")
        output["metadata"]["seen"] = sorted(input["args"])

    async def env(input, output):
        output["env"]["FROM_PLUGIN"] = "value of " + input["callID"]

    async def permission(input, output):
        output["status"] = {"git status": "allow", "git log": "deny"}.get(input["patterns"][0], "ask")

    return {
        "event": event, "config": config, "tool": [shout], "chat.message": message, "chat.params": params,
        "chat.headers": headers, "experimental.chat.system.transform": system, "tool.definition": definition,
        "tool.execute.before": before, "tool.execute.after": after, "shell.env": env,
        "permission.ask": permission,
    }
"""


def with_plugins(
    home: Path, project: Path, script: list[Turn] | Callable[[Any], Turn], *codes: str, **config: Any
) -> AbstractAsyncContextManager[tuple[Client, OpenAIServer, Browser, str]]:
    """The server in a project whose plugins `0.py`, `1.py` … are trusted."""
    files = {f"plugins/{number}.py": code for number, code in enumerate(codes)}
    return with_files(home, project, script, files, {"OPENCODE_WEB_HOOK_SECONDS": "0.3"}, **config)


def hooks(body: str) -> str:
    """A plugin whose `plugin(ctx)` is this."""
    return "async def plugin(ctx):\n" + "".join(f"    {line}\n" for line in body.strip().splitlines())


async def test_every_hook_has_its_say(home: Path, project: Path) -> None:
    uses = [
        ToolUse("read", {"filePath": "hello.py"}),
        ToolUse("bash", {"command": "echo $FROM_PLUGIN"}),
        ToolUse("list", {"path": "forbidden"}),
        ToolUse("shout", {"word": "hey"}),
    ]
    script = [Turn(tools=uses), Turn(text="Done.")]
    rules = {"*": "allow", "shout": "allow"}
    async with with_plugins(home, project, script, EVERYTHING, permission=rules) as (client, model, _, _id):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Look.")
        first = model.requests[0]
        assert [part["text"] for part in parts_of(await client.messages(session["id"]), "text")][:2] == [
            "Look.",
            "(to build)",
        ]
        assert "(to build)" in str(first.body["messages"][-1])
        assert (first.body["temperature"], first.body["top_p"]) == (0.25, 0.5)
        assert 123 in (first.body.get("max_tokens"), first.body.get("max_completion_tokens"))
        assert first.headers["x-session"] == session["id"]
        system = [message["content"] for message in first.body["messages"] if message["role"] == "system"]
        assert system[-1].endswith("third\n\nfourth")
        shown = {tool["function"]["name"]: tool["function"] for tool in first.body["tools"]}
        assert shown["read"]["description"] == "Reads what the plugin says."
        assert shown["shout"]["parameters"]["properties"] == {"word": {"type": "string"}}

        parts = {part["tool"]: part for part in parts_of(await client.messages(session["id"]), "tool")}
        read, bash = parts["read"]["state"], parts["bash"]["state"]
        assert read["title"] == "titled read"
        assert "def goodbye()" in read["output"]
        assert read["metadata"]["seen"] == ["filePath"]
        assert bash["output"].splitlines() == [f"value of {parts['bash']['callID']}", "added"]
        assert bash["input"]["command"].endswith("&& echo added")
        assert parts["list"]["state"]["error"] == "Not with this plugin."
        assert parts["shout"]["state"]["output"] == "HEY"
        async with client.events() as events:
            await client.prompt_async(session["id"], "Again.")
            await until(events, "session.idle")
    told = (project / "told.txt").read_text().splitlines()
    assert told[0] == "config fake/fake"
    assert "event session.idle" in told


async def test_a_permission_is_answered_by_a_plugin_but_a_denial_of_the_rules_stands(
    home: Path, project: Path
) -> None:
    body = """
async def ask(input, output):
    output["status"] = "deny" if "log" in input["patterns"][0] else "allow"
return {"permission.ask": ask}
"""
    commands = ["git status", "git log", "git push"]
    uses = [ToolUse("bash", {"command": command}) for command in commands]
    uses.append(ToolUse("write", {"filePath": ".opencode/plugins/0.py", "content": "x"}))
    permission = {"*": "allow", "bash": {"*": "ask", "git push": "deny"}}
    script = [Turn(tools=[use]) for use in uses] + [Turn(text="Done.")]
    async with with_plugins(home, project, script, hooks(body), permission=permission) as (client, _, _b, _i):
        session = await client.create_session("named")
        async with client.events() as events:
            await client.prompt_async(session["id"], "Go.")
            asked = await until(events, "permission.asked")
            assert asked.properties["permission"] == "edit"  # the guard's question is the person's
            await client.reply(asked.properties["id"], "reject", "no")
            await until(events, "session.idle")
        states = [part["state"] for part in parts_of(await client.messages(session["id"]), "tool")]
        assert [state["status"] for state in states] == ["completed", "error", "error", "error"]
        assert "plugin" in states[1]["error"]
        assert "permission rules" in states[2]["error"]
        assert [(verdict, by) for verdict, by, _ in decisions(home)] == [
            ("allow", "plugin"),
            ("deny", "plugin"),
            ("deny", "configuration"),
            ("deny", "person"),
        ]


BAD = {
    "raises": ("raise RuntimeError('broken in before')", "raised RuntimeError: broken in before"),
    "cancels": ("raise asyncio.CancelledError", "it was cancelled"),
    "exits": ("raise SystemExit", "SystemExit was raised"),
    "awaits": ("await asyncio.sleep(600)", "did not return within 0.3 s"),
    "sleeps": ("time.sleep(600)", "switched off"),
    "spins": ("while True: pass", "switched off"),
    "spoils": ("output['args'] = 'nothing'", "args"),
    "unjson": ("output['args']['x'] = object()", "not JSON serializable"),
}


@pytest.mark.parametrize("kind", BAD)
async def test_a_bad_hook_is_named_and_the_turn_goes_on(home: Path, project: Path, kind: str) -> None:
    line, message = BAD[kind]
    bad = f"import asyncio, time\nasync def before(input, output):\n    {line}\n" + hooks(
        'return {"tool.execute.before": before}'
    )
    good = hooks(
        "async def after(input, output):\n    output['title'] = 'the other one'\n"
        "return {'tool.execute.after': after}"
    )
    script = [Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]), Turn(text="Done.")]
    async with with_plugins(home, project, script, bad, good) as (client, _, browser, id):
        session = await client.create_session("named")
        async with client.events() as events:
            await client.prompt_async(session["id"], "Read.")
            failed = await until(events, "plugin.failed")
            assert failed.properties["hook"] == "tool.execute.before"
            await until(events, "session.idle")
        (part,) = parts_of(await client.messages(session["id"]), "tool")
        assert (part["state"]["status"], part["state"]["title"]) == ("completed", "the other one")
        banner = await notices(browser, id, session["id"])
        assert ".opencode/plugins/0.py" in banner
        assert "tool.execute.before" in banner
        assert message in banner
        assert "1.py" not in banner


async def test_a_blocked_plugin_holds_up_neither_pages_nor_other_sessions(home: Path, project: Path) -> None:
    """While the hook of one session spins, another session's turn goes from its prompt to its end."""
    body = """
import pathlib, time
async def message(input, output):
    if "SPIN" in str(output["parts"]):
        (ctx.directory / "spinning").touch()
        while True: pass
return {"chat.message": message}
"""
    async with with_plugins(home, project, lambda _: Turn(text="Done."), hooks(body)) as (client, _, _b, _i):
        first, second = await client.create_session("a"), await client.create_session("b")
        await client.prompt(second["id"], "Load the plugin.")
        async with client.events() as events:
            await client.prompt_async(first["id"], "SPIN")
            answer = await client.health()
            assert answer["healthy"]
            await until(events, "plugin.failed")
            await until(events, "session.idle", sessionID=first["id"])
        assert (project / "spinning").exists()
        assert await client.prompt(second["id"], "And now?")


async def test_a_broken_module_is_named_and_the_others_load(home: Path, project: Path) -> None:
    codes = (
        "def broken(:\n",
        "import no_such_module_at_all\n",
        "x = 1\n",
        "import time\ntime.sleep(600)\n",
        hooks("return {'no.such.hook': None, 'chat.params': 3, 'tool': [3]}"),
        hooks(
            "async def headers(input, output):\n    output['headers']['x-good'] = 'yes'\n"
            "return {'chat.headers': headers}"
        ),
    )
    async with with_plugins(home, project, [Turn(text="Done.")], *codes) as (client, model, browser, id):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Hello.")
        assert model.requests[0].headers["x-good"] == "yes"
        banner = await notices(browser, id, session["id"])
        for words in (
            "0.py</code>, line 1: no Python",
            "No module named",
            "there is no `async def plugin(ctx)`",
            "was not loaded within",
            "there is no hook of this name",
            "has to be an async function",
            "has to be a list of functions",
        ):
            assert words in banner.replace("&#x27;", "'"), words
        assert "5.py" not in banner


async def test_a_changed_file_is_loaded_anew_once_it_is_trusted(home: Path, project: Path) -> None:
    body = """
async def headers(input, output):
    output["headers"]["x-version"] = "{}"
return {{"chat.headers": headers}}
"""
    async with with_plugins(home, project, lambda _: Turn(text="Done."), hooks(body.format(1))) as (
        client,
        model,
        browser,
        id,
    ):
        session = await client.create_session("named")
        await client.prompt(session["id"], "One.")
        write(project, {".opencode/plugins/0.py": hooks(body.format(2))})
        await client.prompt(session["id"], "Two.")
        await trust(browser, id)
        await client.prompt(session["id"], "Three.")
        seen = [request.headers.get("x-version") for request in model.requests]
        assert seen == ["1", None, "2"]


async def test_the_users_own_plugins_need_no_trust(home: Path, project: Path) -> None:
    code = hooks(
        "async def headers(input, output):\n    output['headers']['x-own'] = ctx.worktree.name\n"
        "return {'chat.headers': headers}"
    )
    write(home, {".config/opencode/plugins/own.py": code})
    async with (
        OpenAIServer([Turn(text="Done.")]) as model,
        running(Server(home, project, model_config(model.base_url))) as client,
    ):
        session = await client.create_session("named")
        await client.prompt(session["id"], "Hello.")
        assert model.requests[0].headers["x-own"] == "project"


def test_what_authors_import_needs_no_server() -> None:
    code = "from opencode_web.plugin import tool, Refused; import sys; print('django' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


async def test_a_command_and_a_text_are_changed(home: Path, project: Path) -> None:
    code = hooks("""
async def before(input, output):
    output["parts"][0]["text"] += f" ({input['command']} {input['arguments']})"

async def complete(input, output):
    output["text"] = output["text"].replace("Done", "All done")

return {"command.execute.before": before, "experimental.text.complete": complete}
""")
    write(project, {".opencode/commands/fix.md": "Fix $1."})
    script = [Turn(text="Done with it.", tools=[ToolUse("list", {"path": "."})]), Turn(text="Done.")]
    async with with_plugins(home, project, script, code, permission={"*": "allow"}) as (client, model, *_):
        session = (await client.create_session("named"))["id"]
        body = {"command": "fix", "arguments": "it"}
        await client.post(f"/session/{session}/command", body)
        assert "Fix it. (fix it)" in str(model.requests[0].body["messages"][-1])
        assert "All done with it." in str(model.requests[1].body["messages"])
        texts = [part["text"] for part in parts_of(await client.messages(session), "text")]
        assert texts[-2:] == ["All done with it.", "All done."]


TRANSFORM = hooks("""
async def messages(input, output):
    messages = output["messages"]
    if any("SPOIL" in str(message["parts"]) for message in messages):
        del messages[-1]["parts"][0]["text"]
        return
    output["messages"] = [one for one in messages if "old one" not in str(one["parts"])]
    for message in messages:
        for part in message["parts"]:
            if part["type"] == "tool":
                part["state"]["output"] = "left out by " + input["agent"]

return {"experimental.chat.messages.transform": messages}
""")


async def test_the_messages_of_a_request_are_changed_and_those_that_are_kept_are_not(
    home: Path, project: Path
) -> None:
    script = [
        Turn(text="Fine."),
        Turn(tools=[ToolUse("read", {"filePath": "hello.py"})]),
        Turn(text="Done."),
        Turn(text="Whole."),
    ]
    async with with_plugins(home, project, script, TRANSFORM) as (client, model, browser, id):
        session = (await client.create_session("named"))["id"]
        await client.prompt(session, "The old one.")
        write(project, {"AGENTS.md": "Speak of the weather."})
        await client.prompt(session, "The new one.")
        sent = model.requests[2].body["messages"]
        assert "The old one." not in str(sent)
        assert "The new one." in str(sent)
        told = next(at for at, one in enumerate(sent) if "Speak of the weather." in str(one["content"]))
        assert [sent[told - 1]["content"], sent[told + 1]["role"]] == ["Fine.", "assistant"]
        assert sent[-1]["content"] == "left out by build"
        kept = str(await client.messages(session))
        assert "The old one." in kept
        assert "def hello" in kept
        await client.prompt(session, "SPOIL")
        assert "SPOIL" in str(model.requests[-1].body["messages"])
        assert "The old one." in str(model.requests[-1].body["messages"])
        assert "experimental.chat.messages.transform" in await notices(browser, id, session)


CONFIGURES = hooks("""
async def config(config):
    config.setdefault("agent", {})["helper"] = {"description": "Helps.", "prompt": "You help a lot."}
    config.setdefault("command", {})["greet"] = {"template": "Greet $1 as the plugin does."}
    config["small_model"] = 7

return {"config": config}
""")


async def test_what_a_plugin_makes_of_the_configuration_is_in_force(home: Path, project: Path) -> None:
    async with with_plugins(home, project, [Turn(text="Hey.")] * 2, CONFIGURES) as (
        client,
        model,
        browser,
        id,
    ):
        agents = {agent["name"]: agent for agent in (await client.http.get("/agent")).json()}
        assert agents["helper"]["description"] == "Helps."
        assert "greet" in [command["name"] for command in (await client.http.get("/command")).json()]
        session = (await client.create_session("named"))["id"]
        body = {"command": "greet", "arguments": "you", "agent": "helper"}
        await client.post(f"/session/{session}/command", body)
        assert "Greet you as the plugin does." in str(model.requests[0].body["messages"][-1])
        assert "You help a lot." in str(model.requests[0].body["messages"][0])
        said = await notices(browser, id, session)
        assert "small_model" in said
        assert "0.py" in said
        write(project, {"opencode.json": '{"username": "somebody"}'})
        await client.prompt(session, "And again.", agent="helper")
        assert "You help a lot." in str(model.requests[1].body["messages"][0])


async def test_a_plugin_ends_the_work_after_a_compaction(home: Path, project: Path) -> None:
    code = hooks("""
async def goes_on(input, output):
    output["enabled"] = input["agent"] != "build"

return {"experimental.compaction.autocontinue": goes_on}
""")
    script = [Turn(text="One."), Turn(text="All summed up."), Turn(text="Two.")]
    async with with_plugins(home, project, script, code) as (client, model, *_):
        session = (await client.create_session("named"))["id"]
        await client.prompt(session, "Look.")
        asked = {"providerID": "fake", "modelID": "fake", "auto": True}
        await client.post(f"/session/{session}/summarize", asked)
        await client.prompt(session, "The next one.")
        assert len(model.requests) == 3
        assert "The next one." in str(model.requests[2].body["messages"][-1])


async def test_a_plugin_chooses_the_small_model(home: Path, project: Path) -> None:
    code = hooks("""
async def small(input, output):
    output["model"] = {"providerID": input["provider"]["id"], "id": "tiny", "name": "Tiny"}

return {"experimental.provider.small_model": small}
""")
    write(home / ".config/opencode/plugins", {"small.py": code})
    async with OpenAIServer([Turn(text="Hi.")], title="Greeting a stranger") as model:
        config = model_config(model.base_url)
        models = config["provider"]["fake"]["models"]
        models["tiny"] = models["fake"]
        async with running(Server(home, project, config)) as client, client.events() as events:
            session = await client.create_session()
            await client.prompt_async(session["id"], "Hello there?")
            info = session
            while info["title"] == session["title"]:
                info = (await until(events, "session.updated")).properties["info"]
        assert [asked.body["model"] for asked in model.titles] == ["tiny"]
